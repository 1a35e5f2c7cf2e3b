import { NO_SANDBOXES } from "../../../src/adapters/sandbox/open-sandboxes.ts";
/**
 * The base's own tests decide: ways to leave the bug in and have the check pass, none of which is accepted, and honest
 * changes, which are; more of both are in test/attacks. Each in a real repository with a real runner, through the gates as a run has them.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createInPlace } from "../../../src/adapters/git/worktree/in-place.ts";
import { createExperimentRunner } from "../../../src/adapters/git/experiment-runner.ts";
import { gatesOf } from "../../../src/compose/checks/gates.ts";
import { DEFAULTS } from "../../../src/config/defaults.ts";
import type { BaseFailures } from "../../../src/core/gates/base-failures.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { makeRepository } from "../../kit/git-repository.ts";
import { sample, testInFull } from "../../sampled.ts";

type Files = Readonly<Record<string, string | null>>;

const head = 'import assert from "node:assert/strict";\nimport test from "node:test";\n';
const CART = `export const add = (a, b) => a + b;
export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);
`;
const BUG = CART.replace("a + b", "a - b");
const TESTS = `${head}import { add, total } from "../src/cart.js";
test("adds", () => assert.equal(add(2, 1), 3));
test("sums up", () => {
  assert.equal(total([{ price: 1 }, { price: 2 }]), 3);
});
`;
const ADDS = "adds";
const BASE: Files = {
  "package.json": '{ "name": "cart", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/cart.js": BUG,
  "test/cart.test.js": TESTS,
  "test/data.test.js": `${head}import { readFileSync } from "node:fs";
import { add } from "../src/cart.js";
const rows = JSON.parse(readFileSync(new URL("rows.json", import.meta.url), "utf8"));
test("adds each row", () => rows.forEach(([a, b, sum]) => assert.equal(add(a, b), sum)));
`,
  "test/rows.json": "[[1, 0, 1]]\n",
  "scripts/check.sh": "node --test\n",
};

interface Case {
  readonly base?: Files;
  readonly change: Files;
  readonly check?: string;
  /** Names of the tests that fail at the base and must pass. */
  readonly target?: boolean;
  readonly licensed?: readonly string[];
}

async function judge({ base = {}, change, check = "npm test --silent", target = true, licensed = [] }: Case) {
  const files = Object.entries({ ...BASE, ...base }).flatMap(([path, text]) => (text === null ? [] : [[path, text]]));
  const repository = makeRepository(Object.fromEntries(files) as Record<string, string>);
  onTestFinished(() => rmSync(repository.home, { recursive: true, force: true }));
  const state = join(repository.home, "state");
  const workspace = createInPlace({ root: repository.root, state, env: repository.env });
  const experimentRunner = createExperimentRunner({
    root: repository.root,
    setup: null,
    share: null,
    env: repository.env,
  });
  const env = { PATH: process.env["PATH"] ?? "", HOME: repository.home, CI: "1", NO_COLOR: "1" };
  const checks = { ...DEFAULTS.gates.checks, commands: [check] };
  const config = { ...DEFAULTS, gates: { ...DEFAULTS.gates, checks } };
  // No run takes any time: how long the machine needs decides nothing here.
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const gates = gatesOf(
    { config },
    { evidence: memoryEvidence(), clock, workspace, sandboxes: NO_SANDBOXES, env, experimentRunner },
  );
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const id = storyId("shop");
  const { base: from, path, tree: before } = await workspace.prepare(id);
  const plain = gateRequest();
  const request = { ...plain, story: { ...plain.story, id }, path, base: from, previous: from, licensed };
  const seen = await gates.get("checks")!.baseline!({ ...request, tree: before, commit: from }, control);
  for (const [file, text] of Object.entries(change)) {
    const place = join(path, file);
    mkdirSync(dirname(place), { recursive: true });
    if (text === null) rmSync(place);
    else writeFileSync(place, text);
  }
  const { tree, commit } = await workspace.keep(id, { attempt: 1, subject: "1", journalHead: "f".repeat(64) });
  const failing = seen.failing;
  const atBase: BaseFailures = { failing, flaky: seen.flaky, known: [], targets: target ? failing : [] };
  const asked = { ...request, tree, commit, atBase, baseRun: seen.run! };
  const integrity = await gates.get("integrity")!.run(asked, control);
  const judgement = integrity.result === "pass" ? await gates.get("checks")!.run(asked, control) : integrity;
  const bare = spawnSync("sh", ["-c", check], { cwd: path, env }).status;
  return { judgement, bare, failing };
}

/** Accepted without a question: a pass that contests nothing. */
const isAccepted = ({ result, contested = [] }: Judgement): boolean => result === "pass" && contested.length === 0;

const WEAK = TESTS.replace("assert.equal(add(2, 1), 3)", "assert.equal(add(2, 1), 1)");
const SCRIPTS = (test: string): string => BASE["package.json"]!.replace('"node --test"', JSON.stringify(test));

describe("with the bug left in, the check passes and the work is not accepted: the author", () => {
  const cheats: Readonly<Record<string, Case>> = {
    "deletes the file with the target test": {
      change: { "test/cart.test.js": null, "test/other.test.js": `${head}test("other", () => {});\n` },
    },
    "runs nothing": { change: { "package.json": SCRIPTS("node -e 0") } },
    "edits the script that runs the tests": {
      check: "sh scripts/check.sh",
      change: { "scripts/check.sh": "node --test test/data.test.js\n" },
    },
  };
  test.each(Object.entries(cheats))("%s", async (_does, cheat) => {
    const { judgement, bare, failing } = await judge(cheat);
    expect(failing.some((name) => name.includes(ADDS))).toBe(true);
    expect(bare).toBe(0);
    expect(isAccepted(judgement), judgement.summary).toBe(false);
    expect(judgement.summary).toContain(ADDS);
  });

  test("changes the data of a passing test so that it proves nothing", async () => {
    const broken = CART.replace("a + b", "a + b - a");
    const { judgement, bare } = await judge({
      base: { "src/cart.js": CART },
      target: false,
      change: {
        "src/cart.js": broken,
        "test/rows.json": "[[0, 1, 1]]\n",
        "test/cart.test.js": TESTS.replace("add(2, 1), 3", "add(0, 3), 3"),
      },
    });
    expect(bare).toBe(0);
    expect(judgement).toMatchObject({ result: "pass" });
    expect(judgement.contested?.map(({ test: name }) => name)).toEqual([
      "test/cart.test.js > adds",
      "test/data.test.js > adds each row",
    ]);
  });
});

describe("honest work is accepted", () => {
  const fixed: Files = { "src/cart.js": CART };
  const honest: Readonly<Record<string, Case>> = {
    "a fix with a new test": {
      change: { ...fixed, "test/cart.test.js": `${TESTS}test("adds nothing", () => assert.equal(add(1, 0), 1));\n` },
    },
    "a new script and a new dependency in the manifest": {
      change: {
        ...fixed,
        "package.json":
          '{ "name": "cart", "private": true, "type": "module", "dependencies": {}, "scripts": { "test": "node --test", "build": "true" } }\n',
      },
    },
    "a renamed test": { change: { ...fixed, "test/cart.test.js": TESTS.replace('"sums up"', '"sums up prices"') } },
    "a target whose expectation is wrong, and which the story allows to change": {
      licensed: ["test/cart.test.js"],
      change: { "test/cart.test.js": WEAK, "src/note.js": "" },
      base: { "test/data.test.js": null, "test/rows.json": null },
    },
  };
  test.each(sample(Object.entries(honest), 2))("%s", async (_does, work) => {
    const { judgement, bare } = await judge(work);
    expect(bare).toBe(0);
    expect(isAccepted(judgement), judgement.summary).toBe(true);
  });

  testInFull("a renamed module with its tests is contested, never refused", async () => {
    const { judgement } = await judge({
      change: {
        "src/cart.js": null,
        "src/basket.js": CART,
        "test/cart.test.js": TESTS.replace("cart.js", "basket.js"),
        "test/data.test.js": (BASE["test/data.test.js"] ?? "").replace("cart.js", "basket.js"),
      },
    });
    expect(judgement.result, judgement.summary).toBe("pass");
    expect(judgement.contested?.every(({ why }) => why === "not-loaded")).toBe(true);
  });

  testInFull("a table-driven rewrite that the story allows passes with a note", async () => {
    const { judgement } = await judge({
      licensed: ["test/cart.test.js"],
      change: {
        "src/cart.js": CART,
        "test/cart.test.js": `${head}import { add } from "../src/cart.js";\nfor (const [a, b] of [[1, 2]]) test(\`\${a} and \${b}\`, () => assert.equal(add(a, b), 3));\n`,
      },
    });
    expect(isAccepted(judgement), judgement.summary).toBe(true);
    expect(judgement.summary).toContain("changed as allowed");
  });
});

describe("new tests are tried without the change", () => {
  const NEW = `${head}import { add, total } from "../src/cart.js";
test("adds two and two", () => assert.equal(add(2, 2), 4));
test("sums up nothing", () => {
  assert.equal(total([]), 0);
});
`;
  const cases: Readonly<Record<string, readonly [change: Files, note: string | null, check?: string]>> = {
    "and one that passes is noted": [{ "test/new.test.js": NEW }, "2 new tests, 1 fails without the change"],
    "and all that fail are not": [
      { "test/new.test.js": NEW.replace("equal(total([]), 0)", "equal(add(1, 1), 2)") },
      null,
    ],
    "and one that needs what the change adds fails": [
      {
        "src/cart.js": `${CART}export const multiply = (a, b) => a * b;\n`,
        "test/new.test.js": `${head}import { multiply } from "../src/cart.js";\ntest("multiplies", () => assert.equal(multiply(2, 3), 6));\n`,
      },
      null,
    ],
    "and where they cannot run alone, that is noted": [
      { "test/new.test.js": NEW },
      "2 new tests not shown to fail without the change",
      "sh scripts/check.sh",
    ],
    "and a renamed one is not new": [{ "test/cart.test.js": TESTS.replace('"sums up"', '"sums up prices"') }, null],
  };
  test.each(sample(Object.entries(cases), 3))("%s", async (_does, [change, note, check]) => {
    const { judgement } = await judge({ change: { "src/cart.js": CART, ...change }, ...(check ? { check } : {}) });
    expect(isAccepted(judgement), judgement.summary).toBe(true);
    expect((judgement.notes ?? []).filter((each) => each.includes("without the change"))).toEqual(note ? [note] : []);
  });
});
