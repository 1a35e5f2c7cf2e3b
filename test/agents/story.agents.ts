import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { clientProgram, clientRoot } from "./installed-clients.ts";
import { modelAndHome } from "./model-and-home.ts";
import type { ModelRequest, Reply } from "../../src/testing/wire.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const place = modelAndHome("for each test");
let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository(files());
  // The packages that a project would have installed.
  symlinkSync(join(clientRoot("model"), "node_modules"), join(repository.root, "node_modules"));
});
afterEach(() => repository.clear());

function files(): Readonly<Record<string, string>> {
  const config = {
    version: 1,
    preset: "critic-audit",
    agents: {
      developer: { use: "claude", command: clientProgram("claude") },
      critic: { use: "codex", command: clientProgram("codex"), args: place.server.codexArgs },
      auditor: { use: "model", model: "openai-compatible/auditor" },
    },
    gates: { checks: { commands: ["node --test"] } },
  };
  return {
    ".gitignore": "node_modules\n",
    // JSON is YAML.
    "remand.yaml": JSON.stringify(config),
    "src/slug.mjs": 'export const slug = (title) => title.toLowerCase().replaceAll(" ", "-");\n',
    "test/slug.test.mjs":
      'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { slug } from "../src/slug.mjs";\ntest("joins", () => assert.equal(slug("A day"), "a-day"));\n',
    "stories/short-slugs.md":
      "---\ntitle: Slugs are short\n---\n\nLong slugs break our links.\n\n## Acceptance criteria\n\n- [ ] no slug is longer than 40 characters\n",
  };
}

const FIRST = 'export const slug = (title) => title.toLowerCase().replaceAll(" ", "-").slice(0, 40);\n';
const SECOND = `const LONGEST = 40;\n${FIRST.replace("0, 40", "0, LONGEST")}`;

interface Line {
  readonly event?: {
    readonly type: string;
    readonly session?: { readonly id: string };
    readonly judgement?: { readonly gate: string; readonly result: string; readonly summary: string };
  };
}

test("Claude Code develops, Codex reviews, a model audits: rejected, reworked in the same conversation, accepted", async () => {
  let reviews = 0;
  place.server.script(({ api, prompt, step, round }: ModelRequest): Reply => {
    const nonce = /nonce of this prompt: `(\w+)`/.exec(prompt)?.[1] ?? "";
    if (api === "openai-responses") {
      if (step === 0) return { calls: "exec_command", input: { cmd: "echo mine > src/slug.mjs; cat src/slug.mjs" } };
      reviews++;
      return reviews === 1
        ? {
            says: `REVIEW_FAILED: short-slugs\n${nonce}\n\nIssues Found:\n- src/slug.mjs:1: the limit has no name\n\nRequired Fixes:\n- give 40 a name\n\nPriority: MEDIUM`,
          }
        : { says: `REVIEW_PASSED: short-slugs\n${nonce}\n\nEarlier Findings:\n- F1: ADDRESSED\n\nSummary: reads well` };
    }
    if (api === "openai-chat")
      return {
        says: `AUDIT_PASSED: short-slugs\n${nonce}\n\nVerification Results:\n- no slug is longer than 40 characters: VERIFIED - tried with 200\n\nSummary: it holds`,
      };
    // A file must be read before it may be written.
    if (step === 0) return { calls: "Read", input: { file_path: "src/slug.mjs" } };
    if (step === 1)
      return { calls: "Write", input: { file_path: "src/slug.mjs", content: round === 1 ? FIRST : SECOND } };
    return { says: "READY_FOR_REVIEW: short-slugs" };
  });
  const { exit, lines, err } = await run();
  const asked = [...place.server.requests];
  const judged = lines.flatMap(({ event }) => (event?.judgement === undefined ? [] : [event.judgement]));
  expect(exit, `${err}\n${JSON.stringify(judged, null, 1)}`).toBe(0);
  const reviewed = judged.filter(({ gate }) => gate === "review").map(({ result }) => result);
  expect(reviewed).toEqual(["fail", "pass"]);
  expect(judged.filter(({ gate }) => gate === "audit").map(({ result }) => result)).toEqual(["pass"]);
  const sessions = lines.flatMap(({ event }) => (event?.type === "attempt.finished" ? [event.session?.id] : []));
  expect(sessions).toHaveLength(2);
  expect(sessions[1]).toBe(sessions[0]);
  // The developer sees the findings in the rework; the auditor sees the current work, and has no tools.
  const reworks = asked.filter(({ api, round }) => api === "anthropic" && round === 2);
  expect(reworks[0]?.prompt).toContain("give 40 a name");
  const [audit, ...more] = asked.filter(({ api }) => api === "openai-chat");
  expect(more).toEqual([]);
  expect(audit).toMatchObject({ model: "auditor", tools: [], prompt: expect.stringContaining("LONGEST") });
  expect(place.server.unexpected).toEqual([]);
  expect(repository.git("show", "remand/short-slugs:src/slug.mjs")).toBe(SECOND);
});

function run(): Promise<{ exit: number; lines: readonly Line[]; err: string }> {
  const { PATH = "" } = process.env;
  const env = {
    PATH,
    HOME: place.home,
    CODEX_HOME: place.home,
    CODEX_API_KEY: "none",
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: place.server.url,
    OPENAI_COMPATIBLE_API_KEY: "none",
    OPENAI_COMPATIBLE_BASE_URL: `${place.server.url}/v1`,
    USER: "ada",
  };
  return new Promise((resolve) => {
    const options = { cwd: repository.root, env, maxBuffer: 1e8 };
    const child = execFile(process.execPath, [main, "run", "--reporter", "jsonl"], options, (_, stdout, err) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      resolve({ exit: child.exitCode ?? -1, lines: lines.map((line) => JSON.parse(line) as Line), err });
    });
  });
}
