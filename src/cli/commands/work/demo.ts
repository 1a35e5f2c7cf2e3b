import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { type CliCommand, EXIT, type ExitCode, type World } from "../../../app/command.ts";
import { keptBrief } from "../../kept-brief.ts";
import { loadConfig, loadStories, storiesFolder } from "../../../app/load-config.ts";
import { REPORTERS } from "../../reporters/reporter.ts";
import { runEngine } from "../../run-engine.ts";
import { paintFor } from "../../terminal-kind.ts";

interface Options {
  readonly reporter?: string;
  readonly json?: boolean;
}

const EXAMPLES = `Examples:
  remand demo                         see the loop work: a red test, a rejected review, the briefs, the acceptance

It makes a small git repository in a temporary folder and leaves it there for you to look at. No agent is needed.
`;

export const command: CliCommand = {
  name: "demo",
  summary: "see the loop work on a small project, with scripted agents",
  register(command, world, done) {
    command
      .option("--reporter <name>", `how progress is shown: ${REPORTERS.join(", ")}`)
      .option("--json", "print a document of the schema remand.run/1 when it is over")
      .addHelpText("before", EXAMPLES)
      .action(async (options: Options) => done(await demo(world, options)));
  },
};

async function demo(world: World, options: Options): Promise<ExitCode> {
  const root = await world.host.demoRepository(DEMO_FILES);
  const there: World = { ...world, cwd: root };
  const { config, policy } = await loadConfig(there, {});
  if (config === null || policy === null)
    throw new RemandError("config-invalid", "the demo's config is wrong", "Report this, please.");
  const { stories } = await loadStories(there, storiesFolder(there, config));
  const say = options.json === true ? () => undefined : (text: string) => world.out(text);
  const paint = paintFor(world.color);

  say(`A small project is in ${root}: a helper for retries, its tests, and one story.\n`);
  say(`${paint.strong("The story")}  A retry never waits longer than the cap.\n`);
  say(`${paint.strong("The agents")} a developer, a critic and an auditor, who play a script.\n\n`);
  say(`${paint.dim("$ remand run")}\n`);
  const plan = { config, policy, stories, place: "worktrees", agentCommand: null } as const;
  const asked = stories.map(({ id }) => id);
  const { exit } = await runEngine(there, plan, asked, {
    reporter: options.reporter,
    json: options.json,
    by: "remand demo",
  });

  if (exit === EXIT.ok && options.json !== true) {
    for (const [attempt, parts] of WENT_BACK) {
      const { text } = await keptBrief(there, DEMO_STORY, attempt);
      const whole = `a part; the whole: remand brief ${DEMO_STORY} --attempt ${attempt}`;
      say(`\n${paint.strong("What went back to the developer")} with attempt ${attempt} (${whole})\n`);
      for (const line of excerpt(text, parts)) say(`  ${paint.dim("|")} ${line}\n`);
    }
  }
  say(`\n${paint.strong("Now look at it")}\n`);
  for (const [typed, why] of nextSteps(root)) say(`  ${typed.padEnd(46)} ${why}\n`);
  return exit;
}

/** The parts of a brief with these names: each begins with its name and ends at a gap, or before the next. */
function excerpt(text: string, names: readonly string[]): string[] {
  const lines = text.trimEnd().split("\n");
  const parts = names.flatMap((name) => {
    const from = lines.findIndex((line) => line.startsWith(name));
    if (from === -1) return [];
    // Below a heading there is a gap before anything is said.
    const gap = name.startsWith("#") ? 1 : 0;
    const [head, ...rest] = [lines[from]!, ...lines.slice(from + 1 + gap)];
    const end = rest.findIndex((line) => line === "" || line.startsWith("**"));
    const part = end === -1 ? rest : rest.slice(0, end);
    return [head, ...part.slice(0, MOST_LINES), ...(part.length > MOST_LINES ? ["…"] : [])];
  });
  return parts.map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line));
}

/** By attempt: what its brief says in short. */
const WENT_BACK: readonly (readonly [attempt: number, parts: readonly string[]])[] = [
  [2, ["**Gate:**", "**Result:**", "**Failing evidence:**", "**Constraint:**"]],
  [3, ["### Issues Found", "### Required Fixes"]],
];
const LONGEST = 116;
const MOST_LINES = 6;

function nextSteps(root: string): readonly (readonly [typed: string, why: string])[] {
  return [
    [`cd ${root}`, ""],
    [`remand show ${DEMO_STORY}`, "what happened, in order"],
    [`remand diff ${DEMO_STORY} --attempt 2`, "what the rework changed"],
    ["remand log", "every event, as it was written down"],
    ["remand verify", "that nothing was changed since"],
    [`cat ${join(".remand", "audit-trail", "slices", DEMO_STORY, "rework-log.json")}`, ""],
  ];
}

/**
 * The project of `remand demo`: a helper for retries, its tests, one story, and scripted agents. The developer's first
 * attempt does what the story asks and breaks what was right before: it says that all is well, and a test does not. The
 * second is right, and the critic wants it better.
 */
export const DEMO_STORY = "cap-the-wait";

const PACKAGE = `{
  "name": "retry-demo",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`;

const CONFIG = `version: 1
preset: critic-audit
agents:
  # A real project names a real agent here: { use: claude }
  developer: { use: scripted, command: agent-script.yaml }
  critic: { use: scripted, command: agent-script.yaml }
  auditor: { use: scripted, command: agent-script.yaml }
gates:
  checks:
    commands: [node --test]
`;

const RETRY = `/** How long to wait before a retry. The first retry is number 1; each further one waits twice as long. */
export function waitMs(retry) {
  return 100 * 2 ** (retry - 1);
}
`;

const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { waitMs } from "../src/retry.js";

test("the first retry waits 100 ms", () => {
  assert.equal(waitMs(1), 100);
});

test("each retry waits twice as long as the one before", () => {
  assert.deepEqual([2, 3, 4].map((retry) => waitMs(retry)), [200, 400, 800]);
});
`;

const STORY = `---
title: A retry never waits longer than the cap
priority: 1
---

After many failures the wait grows to hours. Give it a cap of 5 seconds, which the caller can change.

## Acceptance criteria

- [ ] no wait is longer than 5000 ms
- [ ] waitMs(retry, capMs) takes another cap
- [ ] the waits below the cap stay as they are
`;

const WRONG = `/** How long to wait before a retry: twice as long each time, and never longer than the cap. */
export function waitMs(retry, capMs = 5000) {
  return Math.min(capMs, 100 * 2 ** retry);
}
`;

const RIGHT = `/** How long to wait before a retry: twice as long each time, and never longer than the cap. */
export function waitMs(retry, capMs = 5000) {
  return Math.min(capMs, 100 * 2 ** (retry - 1));
}
`;

const NAMED = `/** No retry is worth a longer wait: callers give up before. */
const CAP_MS = 5000;

/** How long to wait before a retry: twice as long each time, and never longer than the cap. */
export function waitMs(retry, capMs = CAP_MS) {
  return Math.min(capMs, 100 * 2 ** (retry - 1));
}
`;

const CAP_TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { waitMs } from "../src/retry.js";

test("no wait is longer than the cap", () => {
  assert.equal(waitMs(20), 5000);
});

test("the caller can change the cap", () => {
  assert.equal(waitMs(20, 900), 900);
});
`;

const SCRIPT = `# What each agent does each time it is called. A rehearsal of your own loop is written in the same way.
version: 1
parts:
  - match: { role: developer }
    attempts:
      - delay: 700ms
        edit:
          src/retry.js: |
${indent(WRONG)}
          test/cap.test.js: |
${indent(CAP_TESTS)}
        say: |
          Added the cap and two tests for it. Everything works.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.04
      - delay: 700ms
        edit:
          src/retry.js: |
${indent(RIGHT)}
        say: |
          The exponent was off by one since I moved the formula: the first retry is number 1.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.02
      - delay: 700ms
        edit:
          src/retry.js: |
${indent(NAMED)}
        say: |
          The cap has a name and a reason.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.01
  - match: { role: critic }
    attempts:
      - delay: 400ms
        say: |
          REVIEW_FAILED: ${DEMO_STORY}

          Issues Found:
          - src/retry.js:2: nothing says why it is 5000

          Required Fixes:
          - give the cap a name, and say where it comes from

          Priority: LOW
        cost: 0.01
      - delay: 400ms
        say: |
          REVIEW_PASSED: ${DEMO_STORY}

          Quality Assessment:
          - Naming: CONSISTENT

          Summary: the cap explains itself now
        cost: 0.01
  - match: { role: auditor }
    attempts:
      - delay: 400ms
        say: |
          AUDIT_PASSED: ${DEMO_STORY}

          Verification Results:
          - AC1: VERIFIED - waitMs(20) is 5000, and so is waitMs(1000)
          - AC2: VERIFIED - waitMs(20, 900) is 900
          - AC3: VERIFIED - the tests that were there before pass unchanged

          Summary: all three criteria hold
        cost: 0.01
`;

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, "            ");
}

/** Path below the project's folder → text. */
export const DEMO_FILES: Readonly<Record<string, string>> = {
  "package.json": PACKAGE,
  "remand.yaml": CONFIG,
  "src/retry.js": RETRY,
  "test/retry.test.js": TESTS,
  [`stories/${DEMO_STORY}.md`]: STORY,
  "agent-script.yaml": SCRIPT,
};
