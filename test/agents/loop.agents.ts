import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { claudeAnswerUsd } from "./client-under-test.ts";
import { clientProgram } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";
import type { ModelRequest, Reply } from "../../src/testing/wire.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

const place = modelAndHome("for each test");
let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository({
    "price.test.mjs": TEST,
    "CLAUDE.md": "Prices are in cents.\n",
    "AGENTS.md": "Prices are in cents.\n",
  });
});
afterEach(() => repository.clear());

const TEST = `import { test } from "node:test";
import assert from "node:assert/strict";
import { taxed } from "./price.mjs";
test("tax is added and rounded", () => assert.equal(taxed(99), 119));
`;
const WRONG = "export const taxed = (cents) => cents * 1.2;\n";
const RIGHT = "export const taxed = (cents) => Math.round(cents * 1.2);\n";

interface Ended {
  readonly exit: number;
  readonly events: readonly Event[];
  readonly err: string;
}

interface Event {
  readonly type: string;
  readonly session?: { readonly agent: string; readonly id: string; readonly totals?: { readonly tokens: number } };
  readonly outcome?: { readonly type: string };
  readonly costUsd?: number;
  readonly tokens?: number;
}

/** Runs the built program like a person. */
function loop(
  client: "claude" | "codex",
  env: Readonly<Record<string, string>>,
  set: readonly string[],
): Promise<Ended> {
  const args = [
    "loop",
    "--goal",
    "add 20 % tax to a price, in price.mjs",
    "--check",
    "node --test",
    "--agent",
    client,
    "--set",
    `agents.developer.command=${clientProgram(client)}`,
    ...set.flatMap((each) => ["--set", each]),
    "--reporter",
    "jsonl",
  ];
  const { PATH = "" } = process.env;
  return new Promise((resolve) => {
    const options = {
      cwd: repository.root,
      env: { PATH, HOME: place.home, USER: "ada", REMAND_SANDBOX: process.env["REMAND_SANDBOX"] ?? "auto", ...env },
      maxBuffer: 1e8,
    };
    const child = execFile(process.execPath, [main, ...args], options, (_, stdout, err) => {
      // The last line is the result, and not a line of the journal.
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      const events = lines.flatMap((line) => (JSON.parse(line) as { event?: Event }).event ?? []);
      resolve({ exit: child.exitCode ?? -1, events, err });
    });
  });
}

const finished = ({ events }: Ended): readonly Event[] => events.filter(({ type }) => type === "attempt.finished");

describe("a whole loop: failed check, brief, rework in the same conversation, pass", () => {
  test("with claude", async () => {
    place.server.script(({ prompt, step }: ModelRequest): Reply => {
      const content = prompt.includes("rework") || prompt.includes("119") ? RIGHT : WRONG;
      if (step === 0) return { calls: "Write", input: { file_path: "price.mjs", content } };
      return { says: "READY_FOR_REVIEW: tax is added" };
    });
    const ended = await loop("claude", { ANTHROPIC_BASE_URL: place.server.url, ANTHROPIC_API_KEY: "sk-ant-none" }, []);
    expect(ended.exit, ended.err).toBe(0);
    const [first, second, ...more] = finished(ended);
    expect(more).toEqual([]);
    expect(second?.session?.id).toBe(first?.session?.id);
    expect(first).toMatchObject({ tokens: 2000, costUsd: 2 * claudeAnswerUsd(), session: { agent: "claude" } });
    expect(second).toMatchObject({
      tokens: 2000,
      costUsd: 2 * claudeAnswerUsd(),
      session: { totals: { tokens: 4000 } },
    });
    expect(readFileSync(join(repository.root, "price.mjs"), "utf8")).toBe(RIGHT);
    // The second prompt is in the same conversation as the first, and has the project's instructions only once.
    expect(place.server.requests.map(({ round, step }) => [round, step])).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ]);
    expect(place.server.requests.at(-1)!.text.split("Prices are in cents.")).toHaveLength(2);
    expect(place.server.unexpected).toEqual([]);
  });

  test("with codex", async () => {
    place.server.script(({ round, step }: ModelRequest): Reply => {
      if (step > 0) return { says: "READY_FOR_REVIEW: tax is added" };
      const patch =
        round === 1
          ? `*** Add File: price.mjs\n+${WRONG.trimEnd()}`
          : `*** Update File: price.mjs\n@@\n-${WRONG.trimEnd()}\n+${RIGHT.trimEnd()}`;
      return { calls: "apply_patch", input: `*** Begin Patch\n${patch}\n*** End Patch` };
    });
    const set = [`agents.developer.args=${JSON.stringify(place.server.codexArgs)}`];
    const ended = await loop("codex", { CODEX_HOME: place.home, CODEX_API_KEY: "none" }, set);
    expect(ended.exit, ended.err).toBe(0);
    const [first, second, ...more] = finished(ended);
    expect(more).toEqual([]);
    expect(second?.session?.id).toBe(first?.session?.id);
    expect(first).toMatchObject({ tokens: 2000, session: { agent: "codex", totals: { tokens: 2000 } } });
    expect(second).toMatchObject({ tokens: 2000, session: { totals: { tokens: 4000 } } });
    // Codex does not report its cost, and Remand does not invent one.
    expect(first?.costUsd).toBeUndefined();
    expect(readFileSync(join(repository.root, "price.mjs"), "utf8")).toBe(RIGHT);
    expect(place.server.requests.at(-1)!.text).toContain("Prices are in cents.");
    expect(place.server.unexpected).toEqual([]);
  });

  test("a login that does not work stops the loop, says how to fix it, and charges nothing", async () => {
    place.server.script(() => ({ fails: 401 }));
    const ended = await loop("claude", { ANTHROPIC_BASE_URL: place.server.url, ANTHROPIC_API_KEY: "sk-ant-none" }, []);
    expect(ended.exit).toBe(4);
    expect(finished(ended)).toMatchObject([{ outcome: { type: "unusable", fix: expect.stringContaining("log in") } }]);
    expect(ended.events.some(({ type }) => type === "work.sent-back")).toBe(false);
  });
});
