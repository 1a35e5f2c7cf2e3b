import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clientProgram, clientRoot, makeHome, removeHome } from "./installed-clients.ts";
import type { ModelRequest, Reply } from "../../src/testing/model.ts";
import { startModelServer, type ModelServer } from "../../src/testing/model-server.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
let server: ModelServer;
let home: string;
let repository: string;

beforeEach(async () => {
  server = await startModelServer();
  home = makeHome();
  repository = mkdtempSync(join(tmpdir(), "remand-story-"));
  for (const [path, text] of Object.entries(files())) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  // The packages that the project would have installed.
  symlinkSync(join(clientRoot("model"), "node_modules"), join(repository, "node_modules"));
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: repository });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "slugs");
});
afterEach(async () => {
  await server.close();
  removeHome(home);
  rmSync(repository, { recursive: true, force: true });
});

function files(): Readonly<Record<string, string>> {
  const config = {
    version: 1,
    preset: "critic-audit",
    agents: {
      developer: { use: "claude", command: clientProgram("claude") },
      critic: { use: "codex", command: clientProgram("codex"), args: server.codexArgs },
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
  server.script(({ api, step, round }: ModelRequest): Reply => {
    if (api === "openai-responses") {
      if (step === 0) return { calls: "exec_command", input: { cmd: "echo mine > src/slug.mjs; cat src/slug.mjs" } };
      reviews++;
      return reviews === 1
        ? {
            says: "REVIEW_FAILED: short-slugs\n\nIssues Found:\n- src/slug.mjs:1: the limit has no name\n\nRequired Fixes:\n- give 40 a name\n\nPriority: MEDIUM",
          }
        : { says: "REVIEW_PASSED: short-slugs\n\nEarlier Findings:\n- F1: ADDRESSED\n\nSummary: reads well" };
    }
    if (api === "openai-chat")
      return {
        says: "AUDIT_PASSED: short-slugs\n\nVerification Results:\n- no slug is longer than 40 characters: VERIFIED - tried with 200\n\nSummary: it holds",
      };
    // A file must have been looked at before it may be written.
    if (step === 0) return { calls: "Read", input: { file_path: "src/slug.mjs" } };
    if (step === 1)
      return { calls: "Write", input: { file_path: "src/slug.mjs", content: round === 1 ? FIRST : SECOND } };
    return { says: "READY_FOR_REVIEW: short-slugs" };
  });
  const { exit, lines, err } = await run();
  const asked = [...server.requests];
  const judged = lines.flatMap(({ event }) => (event?.judgement === undefined ? [] : [event.judgement]));
  expect(exit, `${err}\n${JSON.stringify(judged, null, 1)}`).toBe(0);
  const reviewed = judged.filter(({ gate }) => gate === "review").map(({ result }) => result);
  expect(reviewed).toEqual(["fail", "pass"]);
  expect(judged.filter(({ gate }) => gate === "audit").map(({ result }) => result)).toEqual(["pass"]);
  const sessions = lines.flatMap(({ event }) => (event?.type === "attempt.finished" ? [event.session?.id] : []));
  expect(sessions).toHaveLength(2);
  expect(sessions[1]).toBe(sessions[0]);
  // Who reworks sees what was asked of it; who audits sees the work as it is now, and has no hands.
  const reworks = asked.filter(({ api, round }) => api === "anthropic" && round === 2);
  expect(reworks[0]?.prompt).toContain("give 40 a name");
  const [audit, ...more] = asked.filter(({ api }) => api === "openai-chat");
  expect(more).toEqual([]);
  expect(audit).toMatchObject({ model: "auditor", tools: [], prompt: expect.stringContaining("LONGEST") });
  expect(server.unexpected).toEqual([]);
  const kept = execFileSync("git", ["show", "remand/short-slugs:src/slug.mjs"], { cwd: repository, encoding: "utf8" });
  expect(kept).toBe(SECOND);
});

function run(): Promise<{ exit: number; lines: readonly Line[]; err: string }> {
  const { PATH = "" } = process.env;
  const env = {
    PATH,
    HOME: home,
    CODEX_HOME: home,
    CODEX_API_KEY: "none",
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_COMPATIBLE_API_KEY: "none",
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    USER: "ada",
  };
  return new Promise((resolve) => {
    const options = { cwd: repository, env, maxBuffer: 1e8 };
    const child = execFile(process.execPath, [main, "run", "--reporter", "jsonl"], options, (_, stdout, err) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      resolve({ exit: child.exitCode ?? -1, lines: lines.map((line) => JSON.parse(line) as Line), err });
    });
  });
}
