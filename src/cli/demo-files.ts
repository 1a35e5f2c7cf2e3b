/**
 * The project of `remand demo`: a helper for retries, its tests, one story, and scripted agents. The developer's first
 * attempt does what the story asks but breaks existing behavior: its message claims success, and a test fails. The
 * second attempt is correct, and the critic asks for an improvement.
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
      - delay: 300ms
        edit:
          src/retry.js: |
${indent(WRONG)}
          test/cap.test.js: |
${indent(CAP_TESTS)}
        say: |
          Added the cap and two tests for it. Everything works.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.04
      - delay: 300ms
        edit:
          src/retry.js: |
${indent(RIGHT)}
        say: |
          The exponent was off by one since I moved the formula: the first retry is number 1.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.02
      - delay: 300ms
        edit:
          src/retry.js: |
${indent(NAMED)}
        say: |
          The cap has a name and a reason.

          READY_FOR_REVIEW: ${DEMO_STORY}
        cost: 0.01
  - match: { role: critic }
    attempts:
      - delay: 200ms
        say: |
          REVIEW_FAILED: ${DEMO_STORY}

          Issues Found:
          - src/retry.js:2: nothing says why it is 5000

          Required Fixes:
          - give the cap a name, and say where it comes from

          Priority: LOW
        cost: 0.01
      - delay: 200ms
        say: |
          REVIEW_PASSED: ${DEMO_STORY}

          Quality Assessment:
          - Naming: CONSISTENT

          Summary: the cap explains itself now
        cost: 0.01
  - match: { role: auditor }
    attempts:
      - delay: 200ms
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

const QUESTION_STORY = "spread-the-retries";

/** With `--serve`: a story that needs a decision. The scripted developer continues after any answer. */
const QUESTION = `---
title: Clients do not retry at the same moment
priority: 2
---

After an outage all clients retry together. Spread their retries.

## Acceptance criteria

- [ ] two clients wait differently long
`;

const SPREAD = `/** Spreads retries: a part of the wait, chosen by a number from 0 to 1. */
export const spreadMs = (waitMs, random) => waitMs / 2 + (waitMs / 2) * random;
`;

const SPREAD_TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { spreadMs } from "../src/spread.js";

test("a wait is spread over its second half", () => {
  assert.deepEqual([0, 0.5, 1].map((random) => spreadMs(100, random)), [50, 75, 100]);
});
`;

const QUESTION_PARTS = `  - match: { role: developer, story: ${QUESTION_STORY} }
    attempts:
      - delay: 300ms
        say: |
          TASK_INCOMPLETE: ${QUESTION_STORY}

          Blocker: How far may a wait move? Half of it spreads the load well; all of it makes some retries immediate.
          Category: missing_info
          Attempted: read src/retry.js and the story; neither says it
          Needed: the largest part of a wait that may be random
        cost: 0.02
      - delay: 300ms
        edit:
          src/spread.js: |
${indent(SPREAD)}
          test/spread.test.js: |
${indent(SPREAD_TESTS)}
        say: |
          A wait is spread over its second half.

          READY_FOR_REVIEW: ${QUESTION_STORY}
        cost: 0.03
  - match: { role: critic, story: ${QUESTION_STORY} }
    attempts:
      - say: |
          REVIEW_PASSED: ${QUESTION_STORY}

          Summary: small and tested
        cost: 0.01
  - match: { role: auditor, story: ${QUESTION_STORY} }
    attempts:
      - say: |
          AUDIT_PASSED: ${QUESTION_STORY}

          Verification Results:
          - AC1: VERIFIED - spreadMs(100, 0) is 50, spreadMs(100, 1) is 100

          Summary: it holds
        cost: 0.01
`;

/** The files that `--serve` adds to the demo, or replaces. */
export const QUESTION_FILES: Readonly<Record<string, string>> = {
  [`stories/${QUESTION_STORY}.md`]: QUESTION,
  "agent-script.yaml": SCRIPT.replace("parts:\n", `parts:\n${QUESTION_PARTS}`),
};
