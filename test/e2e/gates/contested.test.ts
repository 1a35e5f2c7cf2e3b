import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkoutOf } from "../checkout.ts";
import { testInFull } from "../../sampled.ts";

/* An agent changes a test that passed before, through the built program: who decides about it, and what is said. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const TOTAL = "export const total = (cents) => Math.floor(cents * 1.2);\n";
const ROUNDED = TOTAL.replace("floor", "ceil");
const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { total } from "../src/total.js";
test("adds the tax", () => assert.equal(total(100), 120));
test("rounds the total", () => assert.equal(total(11), 13));
`;
const CHANGED = TESTS.replace("total(11), 13", "total(11), 14");
const NAME = "test/total.test.js > rounds the total";
const STORY =
  "---\ntitle: Round up\n---\n\nRound totals up.\n\n## Acceptance Criteria\n\n- [ ] totals are rounded up\n";

/** It does the work, and restores the test where its brief names it. */
const AGENT = `
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const role = process.argv[2];
const prompt = readFileSync(0, "utf8");
const { code, tests, base, story } = JSON.parse(readFileSync(join(dirname(process.argv[1]), "work.json"), "utf8"));
appendFileSync(join(dirname(process.argv[1]), "seen.jsonl"), JSON.stringify({ role, prompt }) + "\\n");
const id = /Task ID: (\\S+)/.exec(prompt)?.[1] ?? "loop";
const nonce = /nonce of this prompt: \x60(\\w+)\x60/.exec(prompt)?.[1] ?? "";
if (role === "developer") {
  const isSentBack = prompt.includes("Restore the test as it is at the base");
  writeFileSync("src/total.js", (isSentBack ? base.code : code) + (isSentBack ? "// as it was\\n" : ""));
  writeFileSync("test/total.test.js", isSentBack ? base.tests : tests);
  if (story !== undefined) writeFileSync("stories/round.md", story);
  console.log("READY_FOR_REVIEW: " + id + "\\n\\nSummary: did it\\n");
} else if (role === "critic") console.log("REVIEW_PASSED: " + id + "\\n" + nonce + "\\n\\nSummary: the story asks for it\\n");
else console.log("AUDIT_PASSED: " + id + "\\n" + nonce + "\\n\\nVerification Results:\\n- totals are rounded up: VERIFIED - seen\\n");
`;

function project(preset: "goal" | "critic-audit", storyWritten?: string) {
  const tools = mkdtempSync(join(tmpdir(), "remand-contested-"));
  onTestFinished(() => rmSync(tools, { recursive: true, force: true }));
  const seen = join(tools, "seen.jsonl");
  const work = { code: ROUNDED, tests: CHANGED, base: { code: TOTAL, tests: TESTS }, story: storyWritten };
  writeFileSync(join(tools, "work.json"), JSON.stringify(work));
  writeFileSync(join(tools, "agent.mjs"), AGENT);
  const agent = (role: string): string => `${role}: { use: command, command: 'node ${tools}/agent.mjs ${role}' }`;
  const root = checkoutOf({
    "package.json": '{ "name": "shop", "private": true, "type": "module" }\n',
    "src/total.js": TOTAL,
    "test/total.test.js": TESTS,
    "stories/round.md": STORY,
    "remand.yaml": `version: 1\npreset: ${preset}\ndeliver: branch\ngates: { checks: { commands: [node --test] } }\nagents: { ${["developer", "critic", "auditor"].map(agent).join(", ")} }\n`,
  });
  return {
    remand(...args: string[]): { readonly status: number | null; readonly out: string } {
      const ran = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
      return { status: ran.status, out: ran.stdout + ran.stderr };
    },
    prompts: (role: string): string[] =>
      readFileSync(seen, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { role: string; prompt: string })
        .filter((asked) => asked.role === role)
        .map(({ prompt }) => prompt),
    git: (...args: string[]): string => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout,
    agent: ["--", "node", join(tools, "agent.mjs"), "developer"],
  };
}

describe("an existing test that the agent changed", { timeout: 120_000 }, () => {
  test("is a question without reviewers, and goes through with a person's permission", () => {
    // What the agent writes into its story's file licenses nothing.
    const { remand, git } = project("goal", STORY.replace("title:", 'tests: ["**"]\ntitle:'));
    const asked = remand("run", "--reporter", "default");
    expect(asked.status, asked.out).toBe(4);
    expect(remand("inbox").out).toContain(
      `1 existing test no longer passes in its earlier version: ${NAME}. May the work change it?`,
    );
    expect(remand("answer", "round", "allow").out).toContain("allow needs a message");
    const said = remand("answer", "round", "allow", "--message", "the story asks for it", "--by", "Ada");
    expect(said.status, said.out).toBe(0);
    const done = remand("run", "--reporter", "default");
    expect(done.status, done.out).toBe(0);
    expect(done.out).toContain(`1 test changed with Ada's permission: ${NAME}`);
    expect(remand("log").out).toContain(`1 test changed with Ada's permission: ${NAME}`);
    // The permission is in the journal: the gate by itself knows it, for these files alone.
    const gated = remand("gate", "checks", "--at", "remand/round");
    expect(gated.status, gated.out).toBe(0);
    expect(gated.out).toContain(`the journal of round allows the work to change ${NAME} (allowed by Ada)`);
    expect(gated.out).toContain(`1 test changed as allowed: ${NAME}`);
    git("checkout", "--quiet", "--detach", "remand/round");
    git("rm", "--quiet", "stories/round.md");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "more\n\nRemand-Story: round");
    const claimed = remand("gate", "checks", "--at", "HEAD");
    expect(claimed.status, claimed.out).toBe(4);
    expect(claimed.out).toContain("allow them: remand gate --tests-may-change test/total.test.js");
    // A journal that is not what was written allows nothing.
    rmSync(join(git("rev-parse", "--show-toplevel").trim(), ".remand", "journal.db"));
    const lost = remand("gate", "checks", "--at", "remand/round");
    expect(lost.status, lost.out).toBe(4);
    expect(lost.out).toContain("licenses in the journal do not count: ");
  });

  testInFull("goes back with a brief that names it", () => {
    const { remand, prompts } = project("goal");
    remand("run", "--reporter", "minimal");
    const said = remand("answer", "round", "send-back", "--message", "keep the test", "--by", "Ada");
    expect(said.status, said.out).toBe(0);
    const done = remand("run", "--reporter", "default");
    expect(done.status, done.out).toBe(0);
    expect(done.out).not.toContain("permission");
    const brief = prompts("developer")[1]!;
    expect(brief).toContain(`${NAME} fails in its base version`);
    expect(brief).toContain("test/total.test.js");
    expect(brief).toContain("Restore the test as it is at the base");
  });

  test("is the critic's and the auditor's to rule on, with both versions in front of them", () => {
    const { remand, prompts } = project("critic-audit");
    const done = remand("run", "--reporter", "default");
    expect(done.status, done.out).toBe(0);
    expect(done.out).toContain(`1 contested test, accepted by the critic and the auditor: ${NAME}`);
    for (const prompt of [...prompts("critic"), ...prompts("auditor")]) {
      expect(prompt).toContain("### Contested Tests");
      expect(prompt).toContain(`- ${NAME}: fails in its base version`);
      expect(prompt).toContain('| -test("rounds the total", () => assert.equal(total(11), 13));');
      expect(prompt).toContain('| +test("rounds the total", () => assert.equal(total(11), 14));');
    }
  });

  testInFull("is allowed beforehand by a loop's --tests-may-change", () => {
    const { remand, agent } = project("goal");
    const args = ["loop", "--goal", "round up", "--check", "node --test", "--reporter", "default"];
    const done = remand(...args, "--force", "--tests-may-change", "test/total.test.js", ...agent);
    expect(done.status, done.out).toBe(0);
    const strict = remand("gate", "checks", "--strict");
    expect(strict.status, strict.out).toBe(4);
    expect(strict.out).toContain(`${NAME} fails in its base version`);
    expect(remand("gate", "checks", "--strict", "--tests-may-change", "rounds the total").status).toBe(0);
    expect(remand("gate", "checks").status).toBe(0);
  });

  testInFull("ends remand gate with 4 on a branch that an attempt wrote, by its name or by its commits", () => {
    const { remand, git } = project("goal");
    remand("run", "--reporter", "minimal");
    const named = remand("gate", "checks", "--at", "remand/round");
    expect(named.status, named.out).toBe(4);
    expect(named.out).toContain("allow them: remand gate --tests-may-change test/total.test.js");
    const commit = git("rev-parse", "remand/round").trim();
    expect(remand("gate", "checks", "--at", commit).status).toBe(4);
    expect(remand("gate", "checks", "--at", commit, "--tests-may-change", "test/total.test.js").status).toBe(0);
  });
});
