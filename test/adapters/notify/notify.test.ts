import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createCommandNotifier,
  createDesktopNotifier,
  createHttpNotifier,
  signatureOf,
} from "../../../src/adapters/notify/notifiers.ts";
import type { Notification } from "../../../src/core/events/notification.ts";
import { writeNotification, writeSlackMessage } from "../../../src/write/reports/notification.ts";

const NEWS: Notification = {
  kind: "question",
  project: "shop",
  story: "login",
  escalation: "esc-login-1",
  title: "login needs you: <!channel> & $(date) the checks gate failed 3 times",
  text: "failure 3 of 3\nWhat now?",
  answers: ["send-back", "waive"],
  at: Date.UTC(2026, 1, 22),
};
const never = new AbortController().signal;
/** A clock whose pauses pass at once. */
const clock = { now: () => 0, sleep: () => Promise.resolve() };

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "remand-notify-"))));
afterEach(() => rm(folder, { recursive: true }));

describe("by http", () => {
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  let answers: number[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      got.push({ headers: request.headers, body });
      response.writeHead(answers.shift() ?? 200, { location: "/elsewhere" }).end("thank you");
    });
  });
  let url = "";
  beforeEach(async () => {
    got.length = 0;
    answers = [];
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/s3cr3t`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  const hook = (secret: string | null = null) =>
    createHttpNotifier({ use: "webhook", url, secret, clock, write: writeNotification });

  it("posts the event as JSON, signed if there is a secret", async () => {
    await hook("k3y").notify(NEWS, never);
    const [{ headers, body }] = got as [(typeof got)[number]];
    expect(JSON.parse(body)).toEqual({
      schema: "remand.notification/1",
      ...NEWS,
      at: "2026-02-22T00:00:00.000Z",
    });
    expect(headers).toMatchObject({ "content-type": "application/json", "x-remand-kind": "question" });
    expect(headers["x-remand-signature-256"]).toBe(`sha256=${signatureOf(body, "k3y")}`);
    await hook().notify(NEWS, never);
    expect(got[1]!.headers).not.toHaveProperty("x-remand-signature-256");
  });

  it("posts plain text to Slack, without mentions or links", async () => {
    await createHttpNotifier({ use: "slack", url, secret: null, clock, write: writeSlackMessage }).notify(NEWS, never);
    const { text, blocks } = JSON.parse(got[0]!.body) as { text: string; blocks: { text?: { type: string } }[] };
    expect(text).toContain("&lt;!channel&gt; &amp;");
    expect(text).not.toContain("<");
    expect(blocks.map((block) => block.text?.type)).toEqual(["plain_text", "plain_text", undefined]);
  });

  it("retries temporary failures, and not rejections", async () => {
    answers = [503, 429];
    await hook().notify(NEWS, never);
    expect(got).toHaveLength(3);
    answers = [404];
    await expect(hook().notify(NEWS, never)).rejects.toThrow(/^it answered 404$/);
    expect(got).toHaveLength(4);
    answers = [500, 500, 500, 500];
    await expect(hook().notify(NEWS, never)).rejects.toThrow("it answered 500");
    expect(got).toHaveLength(6 + 1);
  });

  it("follows no redirect, and shows only the address's host", async () => {
    answers = [302];
    await expect(hook().notify(NEWS, never)).rejects.toThrow("it answered 302");
    expect(hook().name).toMatch(/^webhook 127\.0\.0\.1:\d+$/);
    const nobody = createHttpNotifier({
      use: "webhook",
      url: "http://127.0.0.1:1/s3cr3t",
      secret: null,
      clock,
      write: writeNotification,
    });
    const error = await nobody.notify(NEWS, never).catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/^it could not be reached/);
    expect((error as Error).message).not.toContain("s3cr3t");
  });
});

describe("by a program", () => {
  const around = () => ({ cwd: folder, env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` } });
  const fake = async (name: string, script: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  };

  it.each([
    ["linux", "notify-send", ["--app-name=remand", "--urgency=critical", "--", NEWS.title, NEWS.text]],
    [
      "darwin",
      "osascript",
      [
        "-e",
        "on run argv",
        "-e",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e",
        "end run",
        NEWS.title,
        NEWS.text,
      ],
    ],
  ] as const)("on %s, desktop notifications use %s, and no shell reads the text", async (platform, program, args) => {
    await fake(program, 'for each; do printf "%s\\0" "$each"; done > told');
    await createDesktopNotifier(around(), platform).notify(NEWS, never);
    expect((await readFile(join(folder, "told"), "utf8")).split("\0").slice(0, -1)).toEqual(args);
  });

  it("a command gets all data on stdin, and no secrets in its environment", async () => {
    const options = { cwd: folder, env: { ...around().env, SECRET: "no", SHOWN: "yes" } };
    const run = 'cat > told; echo "$REMAND_KIND $REMAND_STORY ${SECRET:-none} $SHOWN" >> words';
    const command = createCommandNotifier(run, ["SHOWN"], options, writeNotification);
    expect(command.name).toBe("command cat");
    await command.notify(NEWS, never);
    expect(JSON.parse(await readFile(join(folder, "told"), "utf8"))).toMatchObject({ title: NEWS.title });
    expect(await readFile(join(folder, "words"), "utf8")).toBe("question login none yes\n");
  });

  it("reports what failed: a missing program, or the exit code with the last line", async () => {
    const bare = { cwd: folder, env: { PATH: folder } };
    await expect(createDesktopNotifier(bare, "linux").notify(NEWS, never)).rejects.toThrow(
      "there is no program notify-send",
    );
    const broken = createCommandNotifier("echo one; echo no phone >&2; exit 3", [], around(), writeNotification);
    await expect(broken.notify(NEWS, never)).rejects.toThrow("it ended with 3: no phone");
  });
});
