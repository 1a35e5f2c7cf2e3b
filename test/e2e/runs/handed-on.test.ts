import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

/* What failed is handed on: to the next attempts, to the person who is asked, and to the trail. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

const CONFIG = `version: 1
preset: critic-audit
agents:
  developer: { use: scripted, command: agent-script.yaml }
  critic: { use: scripted, command: agent-script.yaml }
phases:
  implement: [integrity, checks, review]
gates:
  checks: { commands: ["node --test"] }
`;

const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { waitMs } from "../src/wait.js";

test("twice as long each time", () => {
  assert.equal(waitMs(2), 200);
});
`;

const wait = (line: string): string =>
  `export function waitMs(retry) {\n  // ${line}\n  return 100 * 2 ** (retry - 1);\n}\n`;

const attempt = (line: string, more: Record<string, string> = {}): object => ({
  edit: { "src/wait.js": wait(line), ...more },
  say: `READY_FOR_REVIEW: cap\n\nSummary: ${line}\n`,
  cost: 0.4,
});

const review = (...issues: readonly string[]): object => ({
  say: `REVIEW_FAILED: cap\n\nIssues Found:\n${issues.map((issue) => `- ${issue}\n`).join("")}\nRequired Fixes:\n- fix it\n\nPriority: HIGH\n`,
});

const SWALLOWED = "src/wait.js:2: the error is swallowed";
const UNNAMED = "src/wait.js:3: the factor has no name";
const UNUSED = "src/wait.js:1: the argument is not checked";

/** A script is YAML, and JSON is YAML. */
const SCRIPT = JSON.stringify({
  version: 1,
  parts: [
    {
      match: { role: "developer" },
      attempts: [
        attempt("one"),
        attempt("two", { "test/wait.test.js": TESTS.replace("assert.equal(waitMs(2), 200)", "assert.ok(true)") }),
        attempt("three", { "test/wait.test.js": TESTS }),
        attempt("four"),
      ],
    },
    {
      match: { role: "critic" },
      attempts: [review(SWALLOWED, UNNAMED), review(SWALLOWED, UNUSED), review(SWALLOWED)],
    },
  ],
});

interface EscalationFile {
  readonly root_cause: string;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly findings: readonly { readonly gate: string; readonly title: string; readonly status: string }[];
  }[];
}

interface StatusDocument {
  readonly counts: { readonly needsYou: number };
  readonly spent: object;
  readonly stories: readonly object[];
}

test("later briefs, the question and the trail say what each attempt was rejected for, and what is fixed", () => {
  const root = checkoutOf({
    "package.json": '{ "type": "module" }\n',
    "src/wait.js": wait("zero"),
    "test/wait.test.js": TESTS,
    "stories/cap.md": "---\ntitle: Cap the wait\nstatus: ready\n---\n\nGive the wait a cap.\n",
    "remand.yaml": CONFIG,
    "agent-script.yaml": SCRIPT,
  });
  const remand = (...args: string[]): { readonly status: number | null; readonly out: string } => {
    const ran = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
    return { status: ran.status, out: ran.stdout + ran.stderr };
  };
  const run = remand("run", "--reporter", "minimal");
  expect(run.status, run.out).toBe(4);

  // After the cheat: what to restore, that it is in scope, and what was open before it.
  const third = remand("brief", "cap", "--attempt", "3").out;
  expect(third).toContain("### INTEGRITY CHECK FAILED");
  expect(third).toMatch(/that is in scope:\n- test\/wait\.test\.js\n/);
  expect(third).toMatch(new RegExp(`### Still Open From Before\n\n.*\n\n- ${SWALLOWED}.*(?:\n.*)*- ${UNNAMED}`));
  expect(third).toContain(`  - open, not checked since attempt 1: ${SWALLOWED} (review)`);

  // After the second review: every earlier attempt, with what is fixed and what is not.
  const fourth = remand("brief", "cap", "--attempt", "4").out;
  expect(fourth).toMatch(
    new RegExp(
      `- Attempt 1: one -> .*\n  - open: ${SWALLOWED} \\(review\\)\n  - fixed in attempt 3: ${UNNAMED} \\(review\\)\n- Attempt 2: two -> .*\n  - fixed in attempt 3: test/wait\\.test\\.js`,
    ),
  );
  expect(fourth).not.toContain("### Still Open From Before");

  const OPEN = "3 attempts rejected · 1 finding open: the error is swallowed (src/wait.js:2)";
  const inbox = remand("inbox").out;
  expect(inbox).toContain(OPEN);
  expect(inbox).toContain("Review failed 3 times: the error is swallowed. What should the agent change?");
  const shown = remand("show", "cap").out;
  expect(shown).toContain(`fixed in attempt 4: ${UNUSED} (review)`);

  const trail = JSON.parse(remand("trail", "--json").out) as { readonly folder: string };
  const folder = join(trail.folder, "escalations");
  const [file, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  const kept = JSON.parse(readFileSync(join(folder, file!), "utf8")) as EscalationFile;
  expect(kept.root_cause).toContain(OPEN);
  expect(kept.attempts.map(({ findings }) => findings.map(({ title, status }) => `${status}: ${title}`))).toEqual([
    ["open: the error is swallowed", "fixed: the factor has no name"],
    [expect.stringMatching(/^fixed: /) as string],
    ["open: the error is swallowed", "fixed: the argument is not checked"],
    ["open: the error is swallowed"],
  ]);
  expect(remand("trail").status).toBe(0);

  // One moment, one number: what waits, which attempt it is, and what was spent, of which the critic said nothing.
  const status = JSON.parse(remand("status", "--json").out) as StatusDocument;
  const { items } = JSON.parse(remand("inbox", "--json").out) as { readonly items: readonly object[] };
  expect([status.counts.needsYou, items.length]).toEqual([1, 1]);
  expect(status.stories).toMatchObject([{ attempt: 4, attempts: 4 }]);
  expect(status.spent).toMatchObject({ costUsd: 1.6, costUnknown: true });
  const daily = readFileSync(join(trail.folder, "metrics", "daily-summary.json"), "utf8");
  const { days } = JSON.parse(daily) as { readonly days: readonly { cost_usd: number; cost_complete: boolean }[] };
  expect(days.reduce((sum, day) => sum + day.cost_usd, 0)).toBeCloseTo(1.6);
  expect(days.every((day) => !day.cost_complete)).toBe(true);
}, 180_000);
