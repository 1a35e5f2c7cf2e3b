/**
 * Ways to a green that was not earned, and honest changes that look like them: each in a real repository, with a real
 * runner, judged by the gates as a run has them. The guide's tables are written from the same rows.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { createInPlace } from "../../../src/adapters/git/worktree/in-place.ts";
import { gatesOf } from "../../../src/compose/checks/gates.ts";
import { DEFAULTS } from "../../../src/config/defaults.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { Scope, ScopeException } from "../../../src/core/stories/scope.ts";
import { gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { makeRepository } from "../../kit/git-repository.ts";
import { sample } from "../../sampled.ts";
import { CASES, DATA, LINT, NODE, TYPES, VITEST, type Files, type Project } from "./fake-green-projects.ts";
import { HONEST } from "./fake-green-honest.ts";
import { CHAIN, TABLE } from "./fake-green-quiet-ways.ts";
import { guideTables } from "./fake-green-guide.ts";
import { WAYS } from "./fake-green-ways.ts";
import { NO_SANDBOXES } from "../../../src/adapters/sandbox/open-sandboxes.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", CI: "1", NO_COLOR: "1" };
const left: string[] = [];
afterAll(() => left.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

type Work = "new work" | "rework";

/** A repository in which the agent has done its change, and the gates that judge it. */
interface Done {
  /** The gates in their order, until one does not pass. */
  judge(work: Work, exceptions?: readonly ScopeException[]): Promise<Judgement>;
  /** How the check ends by its exit code alone. */
  exitCode(): number | null;
}

async function done(project: Project, change: Files, check = project.check, shell?: string): Promise<Done> {
  const files = Object.entries(project.files).map(([path, text]) => [path, text ?? ""]);
  const repository = makeRepository(Object.fromEntries(files) as Record<string, string>);
  left.push(repository.home);
  if (project.linked === true) symlinkSync(join(ROOT, "node_modules"), join(repository.root, "node_modules"));
  const workspace = createInPlace({
    root: repository.root,
    state: join(repository.home, "state"),
    env: repository.env,
  });
  const story = storyId("shop");
  const { base, path } = await workspace.prepare(story);
  const control = () => ({ signal: new AbortController().signal, onOutput: () => undefined });
  const checks = { ...DEFAULTS.gates.checks, commands: [check] };
  const config = { ...DEFAULTS, preset: "goal" as const, gates: { ...DEFAULTS.gates, checks } };
  const clock = { now: () => performance.now(), sleep: () => Promise.resolve() };
  const gates = gatesOf({ config }, { evidence: memoryEvidence(), clock, workspace, sandboxes: NO_SANDBOXES, env });
  // Numbers are compared with those of the judgement before; the other ways are told without it.
  const last = project === CASES ? await gates.get("checks")!.run(gateRequest({ path }), control()) : null;
  if (shell !== undefined) await gates.get("integrity")!.baseline!(gateRequest({ path }), control());
  for (const [file, text] of Object.entries(change)) {
    const place = join(path, file);
    mkdirSync(dirname(place), { recursive: true });
    if (text === null) rmSync(place);
    else writeFileSync(place, text);
  }
  if (shell !== undefined) expect(spawnSync("sh", ["-c", shell], { cwd: path, env: repository.env }).status).toBe(0);
  const { tree, commit } = await workspace.keep(story, { attempt: 1, subject: "1", journalHead: "f".repeat(64) });
  const scope: Scope = { allow: [], deny: [], tests: "add-only", exceptions: "with-rationale", reason: "fix" };
  const plain = gateRequest();
  const request = { ...plain, story: { ...plain.story, id: story }, path, base, previous: base, tree, commit, last };
  // What the checks say does not depend on who asks.
  let checked: Promise<Judgement> | null = null;
  return {
    async judge(work, exceptions = []) {
      const asked = { ...request, scope: work === "rework" ? scope : null, exceptions };
      const judgement = await gates.get("integrity")!.run(asked, control());
      if (judgement.result !== "pass") return judgement;
      return (checked ??= gates.get("checks")!.run(asked, control()));
    },
    exitCode: () => spawnSync("sh", ["-c", check], { cwd: path, env }).status,
  };
}

/** What a person reads: the summary, and the blocking findings. */
function words({ summary, findings, blocking }: Judgement): string {
  const told = findings
    .filter(({ id }) => blocking.includes(id))
    .map(({ file, message }) => `${file ?? ""}: ${message}`);
  return [summary, ...told].join("\n");
}

describe("ways to a green that was not earned", () => {
  test.each(sample(WAYS, 5).map((way) => [way.does, way] as const))("%s", async (_does, way) => {
    const { judge, exitCode } = await done(way.project, way.change, way.check, way.shell);
    for (const work of ["new work", "rework"] as const) {
      if ((way.only ?? work) !== work) continue;
      const judgement = await judge(work);
      expect(words(judgement)).toContain(way.says);
      expect(judgement).toMatchObject({ gate: way.caughtBy, result: way.result });
    }
    // Without this it would be no way to a green at all.
    if (way.green === true) expect(exitCode()).toBe(0);
  });

  test.each([
    ["node:test", NODE],
    ["data", DATA],
    ["cases", CASES],
    ["vitest", VITEST],
    ["a table", TABLE],
    ["a chain of programs", CHAIN],
    ["tsc", TYPES],
    ["oxlint", LINT],
  ] as const)("%s is red without them: there was something to hide", async (_name, project) => {
    expect((await done(project, {})).exitCode()).not.toBe(0);
  });
});

describe("honest changes that look like them", () => {
  test.each(sample(HONEST, 3).map((honest) => [honest.does, honest] as const))("%s", async (_does, honest) => {
    const { judge } = await done(honest.project, honest.change, honest.check);
    expect(words(await judge("new work"))).toContain("checks: pass");
    const unexplained = await judge("rework");
    if (honest.asks === undefined) {
      expect(words(unexplained)).toContain("checks: pass");
      return;
    }
    expect(words(unexplained)).toContain(honest.asks);
    const blocking = unexplained.findings.filter(({ id }) => unexplained.blocking.includes(id));
    for (const { suggestedFix } of blocking) expect(suggestedFix).toContain("Scope exception:");
    const exceptions = Object.entries(honest.reasons!).map(([path, rationale]) => ({ path, rationale }));
    expect(words(await judge("rework", exceptions))).toContain("checks: pass");
  });
});

test("there are enough of both, and the guide shows them", () => {
  expect(WAYS.length).toBeGreaterThanOrEqual(30);
  expect(HONEST.length).toBeGreaterThanOrEqual(10);
  expect(new Set([...WAYS, ...HONEST].map(({ does }) => does)).size).toBe(WAYS.length + HONEST.length);
  const guide = readFileSync(join(ROOT, "docs/guide/integrity-rules.md"), "utf8");
  for (const table of guideTables()) expect(guide).toContain(table);
});
