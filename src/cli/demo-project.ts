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
