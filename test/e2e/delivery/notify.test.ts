import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeProject, reviewPassed, type Project } from "../critic-audit-project.ts";

/* A whole run, with a receiver at the other end of a webhook. */

const got: { headers: IncomingHttpHeaders; body: string }[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += String(chunk)));
  request.on("end", () => {
    got.push({ headers: request.headers, body });
    response.end();
  });
});
let project: Project;
let hook: string;
beforeEach(async () => {
  project = makeProject();
  got.length = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterEach(async () => {
  project.clear();
  await new Promise((resolve) => server.close(resolve));
});

const SECRET = "tangerine-breakfast";

test("a person is told by a signed webhook that they are needed, without what .env holds, and that the run has ended", async () => {
  project.story("cap");
  project.repository.write(".env", `DATABASE_PASSWORD=${SECRET}\n`);
  const blocked = `TASK_INCOMPLETE: {story}\n\nBlocker: missing_info - is ${SECRET} right\nAttempted: all\nNeeded: a word`;
  const scripts = { developer: [{ say: blocked }], critic: [reviewPassed] };
  const options = {
    env: { ...project.repository.env, HOOK_URL: hook, HOOK_SECRET: "k3y" },
    set: [
      "phases.implement=[integrity, checks, review]",
      "notify=[{ use: webhook, urlFrom: HOOK_URL, secretFrom: HOOK_SECRET }]",
    ],
  };
  const result = await project.run(scripts, options);
  expect(result.exitCode).toBe(4);
  const told = got.map(({ body }) => JSON.parse(body) as { kind: string; title: string; answers: string[] });
  expect(told).toMatchObject([
    { kind: "question", title: "cap needs you: the agent cannot go on: missing info", escalation: "esc-cap-1" },
    { kind: "ended", title: "the run has ended, 1 question waits for you" },
  ]);
  expect(told[0]!.answers).toContain("send-back");
  expect(got[0]!.body).toContain("[redacted:");
  for (const { headers, body } of got) {
    expect(headers["x-remand-signature-256"]).toBe(`sha256=${createHmac("sha256", "k3y").update(body).digest("hex")}`);
    expect(body).not.toContain(SECRET);
  }

  // A second run at once sends nothing: nothing has happened, and no hour has passed.
  await project.run(scripts, options);
  expect(got).toHaveLength(2);
});
