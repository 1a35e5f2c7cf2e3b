import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import { createInPlace } from "../../src/adapters/git/worktree/in-place.ts";
import { createExperimentRunner } from "../../src/adapters/git/experiment-runner.ts";
import { runProcess } from "../../src/adapters/process/run-process.ts";
import { gatesOf } from "../../src/compose/checks/gates.ts";
import { projectEvidence } from "../../src/compose/project-evidence.ts";
import { DEFAULTS } from "../../src/config/defaults.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import type { GateName } from "../../src/core/gates/gate.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { bareStory } from "../../src/core/stories/story.ts";
import { gateRequest, withoutBase } from "../../src/engine/gate-request.ts";
import { newStory } from "../../src/fold/new-state.ts";
import type { GateRequest } from "../../src/ports/gate.ts";
import type { BenchResult } from "../bench-result.ts";
import { makeProject, writeFiles, type Files, type Project } from "./project.ts";
import { NO_SANDBOXES } from "../../src/adapters/sandbox/open-sandboxes.ts";

const FILES = 8;
const each = <T>(make: (at: number) => T, length = FILES): readonly T[] => Array.from({ length }, (_, at) => make(at));

/** A suite that takes seconds: with an instant suite, only the start of programs would be measured. */
interface Suite {
  readonly check: string;
  /** A program that the suite requires. */
  readonly program: string;
  readonly files: Files;
  readonly product: Files;
  /** A test that the work adds. */
  readonly added: Files;
  /** A product with which a test fails at the base: that test is the work's target. */
  readonly wrong?: Files;
}

const nodeTest = (name: string, at: number): string =>
  `import test from "node:test";\nimport assert from "node:assert";\nimport { value } from "../src/part${at}.js";\ntest("${name}", () => {\n  const end = performance.now() + 800;\n  while (performance.now() < end);\n  assert.equal(value(), ${at});\n});\n`;

const NODE: Suite = {
  check: "node --test",
  program: "node",
  files: {
    "package.json": '{ "type": "module", "private": true }\n',
    ...Object.fromEntries(each((at) => [`src/part${at}.js`, `export const value = () => ${at};\n`])),
    ...Object.fromEntries(each((at) => [`test/part${at}.test.js`, nodeTest(`part ${at}`, at)])),
  },
  product: { "src/part0.js": "export const value = () => 1 - 1;\n" },
  added: { "test/more.test.js": nodeTest("more", 0) },
  wrong: { "src/part0.js": "export const value = () => 1;\n" },
};

const pythonTest = (at: number): string =>
  `import time\nimport unittest\n\nfrom part${at} import value\n\n\nclass Part(unittest.TestCase):\n    def test_value(self):\n        time.sleep(0.8)\n        self.assertEqual(value(), ${at})\n`;

const UNITTEST: Suite = {
  check: "python3 -m unittest",
  program: "python3",
  files: {
    "tests/__init__.py": "",
    ...Object.fromEntries(each((at) => [`part${at}.py`, `def value():\n    return ${at}\n`])),
    ...Object.fromEntries(each((at) => [`tests/test_part${at}.py`, pythonTest(at)])),
  },
  product: { "part0.py": "def value():\n    return 1 - 1\n" },
  added: { "tests/test_more.py": pythonTest(0) },
  wrong: { "part0.py": "def value():\n    return 1\n" },
};

const goTest = (name: string, at: number): string =>
  `package parts\n\nimport (\n\t"testing"\n\t"time"\n)\n\nfunc Test${name}(t *testing.T) {\n\ttime.Sleep(800 * time.Millisecond)\n\tif Value${at}() != ${at} {\n\t\tt.Fatal("wrong")\n\t}\n}\n`;

const GO: Suite = {
  check: "go test -count=1 ./...",
  program: "go",
  files: {
    "go.mod": "module example.com/parts\n\ngo 1.19\n",
    ...Object.fromEntries(
      each((at) => [`part${at}.go`, `package parts\n\nfunc Value${at}() int {\n\treturn ${at}\n}\n`]),
    ),
    ...Object.fromEntries(each((at) => [`part${at}_test.go`, goTest(`Part${at}`, at)])),
  },
  product: { "part0.go": "package parts\n\nfunc Value0() int {\n\treturn 1 - 1\n}\n" },
  added: { "more_test.go": goTest("More", 0) },
};

/** With this many files, one file is a small part of a suite that takes longer than the minimum time for faults. */
const LONG_FILES = 48;
const LONG: Suite = {
  ...UNITTEST,
  files: {
    "tests/__init__.py": "",
    ...Object.fromEntries(each((at) => [`part${at}.py`, `def value():\n    return ${at}\n`], LONG_FILES)),
    ...Object.fromEntries(each((at) => [`tests/test_part${at}.py`, pythonTest(at)], LONG_FILES)),
  },
};

/** A makefile may run anything, so none of its test files can run alone. */
const MAKE: Suite = {
  ...UNITTEST,
  check: "make check",
  program: "make",
  files: { ...UNITTEST.files, Makefile: "check:\n\t@python3 -m unittest\n" },
};

const SUITES: Readonly<Record<string, Suite>> = { "node --test": NODE, unittest: UNITTEST, "go test": GO, make: MAKE };

/** The time to verify an accepted attempt, compared with the bare suite; only attempts with `words` in their name. */
export async function attemptFigures(words: string): Promise<readonly BenchResult[]> {
  const figures: BenchResult[] = [];
  const measure = async (
    name: string,
    ...rest: Parameters<typeof attempt> extends [string, ...infer R] ? R : never
  ) => {
    if (name.includes(words)) figures.push(await attempt(name, ...rest));
  };
  const { product, added } = NODE;
  const target = (suite: Suite): Suite => ({ ...suite, files: { ...suite.files, ...suite.wrong } });
  await measure("no test edited, no planted faults", NODE, product, 1.3, "off");
  await measure("a test added, no planted faults", NODE, { ...product, ...added }, 2.2, "off");
  for (const [runner, suite] of Object.entries(SUITES)) {
    if (spawnSync(suite.program, ["--help"]).error !== undefined) continue;
    await measure(`no test edited, ${runner}`, suite, suite.product, 1.3);
    await measure(`a test added, ${runner}`, suite, { ...suite.product, ...suite.added }, 2.2);
    if (suite.wrong === undefined) continue;
    // The minimum time for faults exceeds what this suite has left, so there is no limit.
    await measure(`a target fixed, ${runner}, a short suite`, target(suite), suite.product, null);
  }
  await measure("a target fixed, unittest, 40 s", target(LONG), LONG.product, 1.3);
  return figures;
}

async function attempt(
  name: string,
  suite: Suite,
  change: Files,
  limit: number | null,
  faults: "auto" | "off" = "auto",
): Promise<BenchResult> {
  const project = makeProject(suite.files);
  try {
    const { verified, bare } = await timed(project, suite.check, change, faults);
    return {
      name: `verify: an accepted attempt, ${name}`,
      value: verified / 1000,
      unit: "s",
      ratio: verified / bare,
      against: `the bare suite (${(bare / 1000).toFixed(2)} s)`,
      limit,
    };
  } finally {
    project.clear();
  }
}

async function timed(
  project: Project,
  check: string,
  change: Files,
  faults: "auto" | "off",
): Promise<{ readonly verified: number; readonly bare: number }> {
  const { root, env, userState } = project;
  const state = join(userState, "engine");
  const workspace = createInPlace({ root, state, env });
  const experimentRunner = createExperimentRunner({ root, env, userState, setup: null, share: null });
  const policy = presetPolicy("goal");
  const config = {
    ...DEFAULTS,
    preset: "goal" as const,
    gates: { ...DEFAULTS.gates, checks: { ...DEFAULTS.gates.checks, commands: [check], faults } },
  };
  const evidence = await projectEvidence(root, join(state, "evidence"), config, env);
  const gates = gatesOf(
    { config },
    {
      evidence,
      clock: createSystemClock(),
      workspace,
      sandboxes: NO_SANDBOXES,
      env,
      experimentRunner,
      checkouts: experimentRunner,
    },
  );
  const story = bareStory(storyId("bench"), "Bench", { kind: "bench" });
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const prepared = await workspace.prepare(story.id);
  const requestFor = (gate: GateName, tree: typeof prepared.tree, commit: string) => {
    const command = { gate, tree, stages: [], since: null, answer: [], timeoutMs: 600_000, key: "bench:1" } as const;
    const stored = { ...newStory(story, 0, 0), policy, commit };
    return withoutBase(gateRequest(stored, { ...prepared, branch: "" }, command));
  };
  const seen = await gates.get("checks")!.baseline!(requestFor("checks", prepared.tree, prepared.base), control);
  const withBase = (request: GateRequest): GateRequest => ({
    ...request,
    atBase: { ...request.atBase, failing: seen.failing, targets: seen.failing },
    ...(seen.run === undefined ? {} : { baseRun: seen.run }),
  });
  // The engine does this while the agent works.
  await gates.get("checks")!.prepare!(withBase(requestFor("checks", prepared.tree, prepared.base)), control);
  writeFiles(prepared.path, change);
  const begin = performance.now();
  const { tree, commit } = await workspace.keep(story.id, { attempt: 1, subject: "1", journalHead: "f".repeat(64) });
  for (const gate of ["integrity", "checks"] as const) {
    const judged = await gates.get(gate)!.run(withBase(requestFor(gate, tree, commit)), control);
    if (judged.result !== "pass") throw new Error(`${gate} did not pass: ${judged.summary}`);
  }
  const verified = performance.now() - begin;
  const start = performance.now();
  const { exitCode } = await runProcess({ command: check, cwd: root, env, timeoutMs: 600_000, sandbox: null });
  if (exitCode !== 0) throw new Error(`${check} ended with ${exitCode}`);
  return { verified, bare: performance.now() - start };
}
