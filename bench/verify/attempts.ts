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
import type { BenchResult } from "../bench-result.ts";
import { makeProject, writeFiles, type Files, type Project } from "./project.ts";
import { NO_SANDBOXES } from "../../src/adapters/sandbox/open-sandboxes.ts";

const CHECK = "node --test";
const FILES = 8;

/** A suite of some seconds: one that takes no time would measure how programs are started. */
function suite(): Files {
  const files: Record<string, string> = { "package.json": '{ "type": "module", "private": true }\n' };
  for (let at = 0; at < FILES; at++) {
    files[`src/part${at}.js`] = `export const value = () => ${at};\n`;
    files[`test/part${at}.test.js`] =
      `import test from "node:test";\nimport assert from "node:assert";\nimport { value } from "../src/part${at}.js";\ntest("part ${at}", () => {\n  const end = performance.now() + 800;\n  while (performance.now() < end);\n  assert.equal(value(), ${at});\n});\n`;
  }
  return files;
}

/** How long it takes to verify an attempt that is accepted, beside the bare suite. */
export async function attemptFigures(): Promise<readonly BenchResult[]> {
  const product = { "src/part0.js": "export const value = () => 1 - 1;\n" };
  const tests = { "test/more.test.js": suite()["test/part1.test.js"]!.replaceAll("part 1", "more") };
  return [
    await attempt("no test edited, no planted faults", product, 1.3, "off"),
    await attempt("no test edited", product, 1.3),
    await attempt("a test added, no planted faults", { ...product, ...tests }, 2.2, "off"),
    await attempt("a test added", { ...product, ...tests }, 2.2),
  ];
}

async function attempt(
  name: string,
  change: Files,
  limit: number,
  faults: "auto" | "off" = "auto",
): Promise<BenchResult> {
  const project = makeProject(suite());
  try {
    const { verified, bare } = await timed(project, change, faults);
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
    gates: { ...DEFAULTS.gates, checks: { ...DEFAULTS.gates.checks, commands: [CHECK], faults } },
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
  const atBase = { ...requestFor("checks", prepared.tree, prepared.base), ...(seen.run ? { baseRun: seen.run } : {}) };
  // The engine does that while the agent works.
  await gates.get("checks")!.prepare!(atBase, control);
  writeFiles(prepared.path, change);
  const begin = performance.now();
  const { tree, commit } = await workspace.keep(story.id, { attempt: 1, subject: "1", journalHead: "f".repeat(64) });
  for (const gate of ["integrity", "checks"] as const) {
    const request = { ...requestFor(gate, tree, commit), ...(seen.run === undefined ? {} : { baseRun: seen.run }) };
    const judged = await gates.get(gate)!.run(request, control);
    if (judged.result !== "pass") throw new Error(`${gate} did not pass: ${judged.summary}`);
  }
  const verified = performance.now() - begin;
  const start = performance.now();
  const { exitCode } = await runProcess({ command: CHECK, cwd: root, env, timeoutMs: 600_000, sandbox: null });
  if (exitCode !== 0) throw new Error(`${CHECK} ended with ${exitCode}`);
  return { verified, bare: performance.now() - start };
}
