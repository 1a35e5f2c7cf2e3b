import { failureFingerprint, identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { type Judgement, commandsFor } from "../../core/gates/gate.ts";
import type { TddPhase } from "../../core/stories/story.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { withFailing } from "../pinned/match-tests.ts";
import { suiteGate, withHiddenSuite } from "../checks/suite-gate.ts";
import type { CreateGate, GateParts, GateSettings } from "../gate-parts.ts";
import { createReviewGate } from "../review/review-gate.ts";

export interface TddOptions {
  /** Runs the acceptance and unit tests. */
  readonly tests: Gate;
  /** The same without planted faults, for trees that are only tried; default: `tests`. */
  readonly trial?: Gate;
  /** Reviews the types and their concerns; `null` if no reviewer is configured. */
  readonly domain: Gate | null;
  /** Runs the new tests without the work; `null` if that is not possible. */
  readonly experimentRunner: ExperimentRunner | null;
  readonly workspace: Workspace;
  readonly testPaths: readonly string[];
  readonly clock: Clock;
}

type Control = Parameters<Gate["run"]>[1];

/**
 * Checks that the work is test-driven and passes. The phase at fault is derived from runs: RED for a test that is
 * broken or passes without the work, GREEN for a test that fails with the work, DOMAIN for a domain reviewer's veto.
 */
export function createTddGate(options: TddOptions): Gate {
  const { tests, domain, clock } = options;
  return {
    name: "tdd",
    criteria: () => [...tests.criteria(), ...(domain?.criteria() ?? [])],
    ...(tests.baseline === undefined ? {} : { baseline: tests.baseline }),
    ...(tests.prepare === undefined ? {} : { prepare: tests.prepare }),
    async run(request, control) {
      const beganAt = clock.now();
      const judgement = await runTdd(options, request, control);
      return { ...judgement, durationMs: clock.now() - beganAt };
    },
  };
}

export const tddGate: CreateGate = (settings, parts) => {
  const { workspace, clock, experimentRunner } = parts;
  const { testPaths } = settings.scope;
  const commands = commandsFor("tdd", settings.gates);
  const suite = { gate: "tdd", commands, isTestDemandedElsewhere: true } as const;
  const tests = suiteGate(settings, parts, suite);
  const trial = suiteGate(settings, parts, { ...suite, isPlain: true });
  const domain = domainReview(settings, parts);
  const gate = createTddGate({ tests, trial, domain, experimentRunner, workspace, testPaths, clock });
  return withHiddenSuite(gate, settings, parts, { commands });
};

/** Returns the review of types within the cycle, if the config has a stage of that name. */
function domainReview(
  { gates, roles }: GateSettings,
  { reviewers, evidence, clock, workspace, checkouts }: GateParts,
): Gate | null {
  if (reviewers === null || !gates.tdd.stages.includes(DOMAIN_STAGE)) return null;
  const judgedBy = [`a review of the types by ${roles.stage[DOMAIN_STAGE] ?? roles.critic}`];
  return createReviewGate({ ...reviewers, evidence, clock, workspace, checkouts, judgedBy });
}

const DOMAIN_STAGE = "domain";

async function runTdd(options: TddOptions, request: GateRequest, control: Control): Promise<Judgement> {
  const ran = asTdd(await options.tests.run(request, control));
  // A runner that found no test says nothing about the code: the test is missing.
  if (isWithoutTests(ran) && isMissing(await storyTests(options, request), request))
    return failedJudgement(ran, NO_TEST, "red");
  if (ran.result === "fail") return { ...ran, tddPhase: isTestAtFault(ran, options.testPaths) ? "red" : "green" };
  if (ran.result !== "pass") return ran;
  const red = await redAtFault(options, request, control);
  if (red !== null) return failedJudgement(ran, red, "red");
  if (options.domain === null || control.signal.aborted) return ran;
  const passed = await domainPass(options, request);
  if (passed !== null) return { ...ran, stages: passed };
  const looked = asTdd(await options.domain.run({ ...request, stages: [DOMAIN_STAGE] }, control));
  const both = { ...looked, evidence: [...ran.evidence, ...looked.evidence], ...(ran.runs ? { runs: ran.runs } : {}) };
  return looked.result === "fail" ? { ...both, tddPhase: "domain" } : { ...ran, ...both };
}

/** Whether the run had no test, which is neither a pass of the code nor a failure. */
const isWithoutTests = ({ result, tests, identities }: Judgement): boolean =>
  (result === "fail" || result === "inconclusive") &&
  (tests === undefined || tests.passed + tests.failed === 0) &&
  (identities?.notLoaded.length ?? 0) === 0;

/**
 * Returns the stages of the last pass if only tests changed since, so that the domain reviewer need not review again.
 */
async function domainPass(
  { workspace, testPaths }: TddOptions,
  { story, tree, last }: GateRequest,
): Promise<NonNullable<Judgement["stages"]> | null> {
  if (last?.result !== "pass" || !last.stages?.some(({ stage }) => stage === DOMAIN_STAGE)) return null;
  const changed = await workspace.changedPaths(story.id, last.tree, tree);
  return changed.every((path) => matchesAnyGlob(path, testPaths)) ? last.stages : null;
}

const asTdd = (judgement: Judgement): Judgement => ({
  ...judgement,
  gate: "tdd",
  summary: judgement.summary.replace(/^(?:checks|review)\b/, "tdd"),
});

/** Whether every failure is in a test file that cannot even run. */
function isTestAtFault({ findings, blocking }: Judgement, testPaths: readonly string[]): boolean {
  const counted = findings.filter(({ id }) => blocking.includes(id));
  return counted.length > 0 && counted.every((finding) => isBrokenTest(finding, testPaths));
}

function isBrokenTest({ file, message, detail = "" }: Finding, testPaths: readonly string[]): boolean {
  return file !== undefined && matchesAnyGlob(file, testPaths) && BROKEN.test(`${message}\n${detail}`);
}

const BROKEN =
  /\b(?:SyntaxError|ReferenceError|IndentationError|NameError|fixture '[^']+' not found|is not defined\b|undeclared name|cannot find (?:value|function|macro))/;

/** Returns what is wrong with the story's own tests; `null` if they fail without the work, as they should. */
async function redAtFault(options: TddOptions, request: GateRequest, control: Control): Promise<Finding | null> {
  const { workspace, testPaths, experimentRunner } = options;
  const { story, base, tree, last } = request;
  const texts = await storyTests(options, request);
  if (isMissing(texts, request)) return NO_TEST;
  const written = writtenIn(texts);
  if (written.length === 0 || experimentRunner === null || control.signal.aborted) return null;
  const isProven =
    last?.result === "pass" &&
    !(await workspace.changedPaths(story.id, last.tree, tree)).some((path) => matchesAnyGlob(path, testPaths));
  if (isProven) return null;
  const checkout = await experimentRunner.open({ signal: control.signal, commit: base, base });
  try {
    await checkout.set(base, texts);
    const { last: _1, seenTree: _2, ...fresh } = request;
    const without = await (options.trial ?? options.tests).run(
      { ...fresh, last: null, path: checkout.path, workedIn: request.path },
      control,
    );
    if (without.result !== "pass") return null;
    return finding("the tests of this story pass without its work, so they prove nothing", written[0], FAIL_FIRST);
  } finally {
    await checkout.close();
  }
}

/** Returns the test files that the story changed; `null` for a deleted one. */
async function storyTests(
  { workspace, testPaths }: TddOptions,
  { story, base, tree }: GateRequest,
): Promise<ReadonlyMap<string, string | null>> {
  const changed = await workspace.changedPaths(story.id, base, tree);
  const texts = new Map<string, string | null>();
  for (const path of changed)
    if (matchesAnyGlob(path, testPaths)) texts.set(path, await workspace.fileAt(story.id, tree, path));
  return texts;
}

const writtenIn = (texts: ReadonlyMap<string, string | null>): string[] =>
  [...texts].filter(([, text]) => text !== null).map(([path]) => path);

/** Whether the story has no test. A target test counts, because it fails without the work and passes with it. */
const isMissing = (texts: ReadonlyMap<string, string | null>, { atBase }: GateRequest): boolean =>
  writtenIn(texts).length === 0 && atBase.targets.length === 0;

const WRITE_ONE = "Write a test that fails on the code as it was before, and passes with this work.";
const FAIL_FIRST =
  "Change the test so that it fails on the code as it was before, for the reason that this work removes.";

function finding(message: string, file: string | undefined, suggestedFix: string): Finding {
  return identifyFinding({
    severity: "critical",
    category: "tdd-red",
    message,
    source: "tdd",
    suggestedFix,
    ...(file === undefined ? {} : { file }),
  });
}

const NO_TEST = finding("no test was written for this story", undefined, WRITE_ONE);

function failedJudgement(ran: Judgement, wrong: Finding, tddPhase: TddPhase): Judgement {
  const blocking = ran.result === "fail" ? [...ran.blocking, wrong.id] : [wrong.id];
  const summary = `tdd: fail (${tddPhase.toUpperCase()}: ${wrong.message}), ${blocking.length} to fix`;
  return {
    ...ran,
    result: "fail",
    findings: [...ran.findings, wrong],
    blocking,
    failure: failureFingerprint([wrong], summary),
    tddPhase,
    summary,
    ...withFailing(ran, wrong),
  };
}
