import { placeOfFailure } from "../../domain/base-failures.ts";
import { failureFingerprint, identified, type Finding } from "../../domain/finding.ts";
import type { Judgement } from "../../domain/gate.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Laboratory } from "../../ports/laboratory.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { faultNameOf } from "./check-faults.ts";

export interface TestedWorkOptions {
  readonly workspace: Pick<Workspace, "changed" | "fileAt">;
  /** Where the targets are run with the base's tests; `null` where there is no such place. */
  readonly laboratory: Laboratory | null;
  readonly testPaths: readonly string[];
  /** Does a gate around this one demand the test itself? */
  readonly isTestDemandedElsewhere?: boolean;
}

type Control = Parameters<Gate["judge"]>[1];

const NO_TEST = "no test shows this change";

/**
 * A pass of the checks, looked at once more: is it the base's own targets that pass, and does any test show the change?
 * Tests of the base that the work changed are put back in a throwaway copy, and the targets must pass there too.
 */
export function withTestedWork(checks: Gate, options: TestedWorkOptions): Gate {
  return {
    ...checks,
    async judge(request, control) {
      const judged = await checks.judge(request, control);
      // Without a tree nothing is known of what changed.
      if (judged.result !== "pass" || request.tree === "" || control.signal.aborted) return judged;
      const { targets } = request.atBase;
      const changed = await options.workspace.changed(request.story.id, request.base, request.tree);
      const tests = changed.filter((path) => matchesAnyGlob(path, options.testPaths));
      if (targets.length > 0) return withBaseTests(checks, options, request, control, { judged, tests });
      const isShown = changed.length === 0 || (await someStillThere(options, request, tests));
      if (isShown || options.isTestDemandedElsewhere === true) return judged;
      return request.requireTest ? refused(judged, [untested()]) : noted(judged, NO_TEST);
    },
  };
}

async function someStillThere(
  { workspace }: TestedWorkOptions,
  { story, tree }: GateRequest,
  paths: readonly string[],
): Promise<boolean> {
  for (const path of paths) if ((await workspace.fileAt(story.id, tree, path)) !== null) return true;
  return false;
}

interface Passed {
  readonly judged: Judgement;
  readonly tests: readonly string[];
}

async function withBaseTests(
  checks: Gate,
  { workspace, laboratory }: TestedWorkOptions,
  request: GateRequest,
  control: Control,
  { judged, tests }: Passed,
): Promise<Judgement> {
  const { story, base, tree } = request;
  const texts = new Map<string, string>();
  for (const path of tests) {
    const text = await workspace.fileAt(story.id, base, path);
    if (text !== null) texts.set(path, text);
  }
  if (texts.size === 0) return judged;
  if (laboratory === null) return unproven(judged, "there is no throwaway copy to run them in");
  const bench = await laboratory.open({ signal: control.signal, commit: request.commit || base, tree, base });
  try {
    const before = await bench.set(tree, texts);
    const clean = { path: bench.path, workedIn: request.path };
    const ran = await checks.judge({ ...request, ...clean, last: null, tree: before }, control);
    return compared(request, judged, ran, [...texts.keys()]);
  } finally {
    await bench.close();
  }
}

/** Only the targets are judged by it: the base's other tests may have had to change with the work. */
function compared({ atBase }: GateRequest, judged: Judgement, ran: Judgement, putBack: readonly string[]): Judgement {
  if (ran.result === "pass") return judged;
  const red = ran.findings.filter(({ id }) => ran.blocking.includes(id));
  const unmet = atBase.targets.flatMap((name) => {
    const finding = red.find((each) => faultNameOf(each) === name || isLoadFailure(each, name));
    return finding === undefined ? [] : [unmetTarget(name, finding, putBack)];
  });
  if (unmet.length > 0) return refused(judged, unmet, ran.evidence);
  // Other tests failed, each by its name: so the targets ran, and passed.
  if (ran.result === "fail" && red.every(({ symbol }) => symbol !== undefined)) return judged;
  return unproven(judged, ran.summary);
}

/** The target's file, or the check that holds it, did not get so far as to name a test. */
function isLoadFailure({ symbol, file, source, category }: Finding, target: string): boolean {
  const place = placeOfFailure(target);
  if (category === "check" && file === undefined) return source === place;
  return file === place && (symbol === undefined || symbol === file || file.endsWith(`/${symbol}`));
}

function unmetTarget(name: string, { detail, message }: Finding, putBack: readonly string[]): Finding {
  const place = placeOfFailure(name);
  const file = putBack.find((path) => path === place || path.endsWith(`/${place}`));
  return identified({
    severity: "critical",
    category: "target",
    source: "checks",
    symbol: name,
    message: `the target ${name} fails with the base's version of its tests`,
    detail: [`Put back for this run: ${putBack.join(", ")}`, message, ...(detail === undefined ? [] : [detail])].join(
      "\n",
    ),
    suggestedFix: `Restore ${file ?? putBack.join(", ")} as it was, and change the code so that the test passes.`,
    ...(file === undefined ? {} : { file }),
  });
}

function untested(): Finding {
  return identified({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: NO_TEST,
    suggestedFix: "Add a test that fails without this change, or change one so that it does.",
  });
}

function refused(judged: Judgement, findings: readonly Finding[], evidence: Judgement["evidence"] = []): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: fail (${findings.map(({ message }) => message).join("; ")}), ${findings.length} to fix`;
  return {
    ...rest,
    ...withFailing(judged, findings),
    result: "fail",
    findings: [...judged.findings, ...findings],
    blocking: findings.map(({ id }) => id),
    failure: failureFingerprint(findings, summary),
    summary,
    evidence: [...new Set([...evidence, ...judged.evidence])],
  };
}

/** A target that fails with the base's tests fails, whatever the run with the author's own tests said. */
function withFailing({ identities }: Judgement, findings: readonly Finding[]): Pick<Judgement, "identities"> {
  if (identities === undefined) return {};
  const names = findings.map(({ symbol, message }) => symbol ?? message);
  const passing = identities.passing.filter((name) => !names.includes(name));
  return { identities: { ...identities, failing: [...new Set([...identities.failing, ...names])], passing } };
}

function unproven(judged: Judgement, why: string): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: inconclusive (the targets could not be run with the base's version of their tests: ${why})`;
  return { ...rest, result: "inconclusive", summary };
}

function noted(judged: Judgement, note: string): Judgement {
  return { ...judged, notes: [...(judged.notes ?? []), note], summary: `${judged.summary}; ${note}` };
}
