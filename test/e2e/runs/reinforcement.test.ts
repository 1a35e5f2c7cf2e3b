import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** It writes down what it was given, goes on with its conversation, and is right only when it is the great model. */
const AGENT = `
import { appendFileSync, writeFileSync } from "node:fs";
const { REMAND_MODEL: model, REMAND_SESSION: session, REMAND_RESULT_FILE: result, SEEN } = process.env;
const seen = JSON.stringify({ model, session });
appendFileSync(SEEN, seen + "\\n");
writeFileSync("answer.txt", model === "great" && session === "" ? "right\\n" : "wrong " + Math.random() + "\\n");
writeFileSync(result, JSON.stringify({ text: "done", session: session || "talk-" + Date.now() }));
`;

test("work that keeps failing gets a stronger model and then a new conversation; both are journalled and shown", () => {
  const root = checkoutOf({
    "stories/say-right.md": '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nWrite right.\n',
    "agent.mjs": AGENT,
    "answer.txt": "\n",
    "remand.yaml": `version: 1
preset: goal
env: [SEEN]
agents:
  developer: { use: command, command: "node agent.mjs", model: small, stronger: { model: great, after: 1 }, freshAfter: 2 }
gates:
  checks: { blame: false, commands: ["grep -q right answer.txt || { echo 'answer.txt:1:1: error: not right'; cat answer.txt; exit 1; }"] }
stall: { sameFailure: 0, plateau: 0, cascade: false }
`,
  });
  const seen = join(root, ".git", "seen.jsonl");
  const remand = (...args: string[]): { status: number | null; out: string } => {
    const env = { ...process.env, SEEN: seen, REMAND_SANDBOX: "off" };
    const ran = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8", env });
    return { status: ran.status, out: ran.stdout + ran.stderr };
  };

  const run = remand("run", "--reporter", "minimal");
  expect(run.status, run.out).toBe(0);
  const given = readFileSync(seen, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { model: string; session: string });
  expect(given.map(({ model, session }) => [model, session !== ""])).toEqual([
    ["small", false],
    ["great", true],
    ["great", false],
  ]);
  const started = remand("log", "--json", "event")
    .out.split("\n")
    .filter((line) => line.includes('"attempt.started"'))
    .map((line) => (JSON.parse(line) as { event: object }).event);
  expect(started).toMatchObject([
    { attempt: 1, model: "small" },
    { attempt: 2, model: "great", stronger: { failures: 1 } },
    { attempt: 3, model: "great", stronger: { failures: 2 }, fresh: { failures: 2 } },
  ]);
  expect(started[0]).not.toHaveProperty("stronger");
  expect(remand("show", "say-right").out).toContain(
    "attempt 3: implement by developer (great), rework after checks, the stronger model after 2 failures, a new conversation after 2 failures in the last one",
  );
});
