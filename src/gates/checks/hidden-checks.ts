import { hiddenReportText, markHidden } from "../../core/gates/check-output.ts";
import { failureFingerprint, identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { inCheckout, withNote } from "../pinned/pinned-run.ts";
import { type PinnedOptions, type PinnedTree, pinnedTree, setPinned } from "../pinned/pinned-tree.ts";
import { isPlaceOf } from "../pinned/selected-tests.ts";
import { type ChecksGate, type ChecksOptions, type TestedJudgement, createChecksGate } from "./checks-gate.ts";

/** Files that no agent sees, and how they are used. */
export interface HiddenParts {
  /** Relative to the project's folder. */
  readonly paths: readonly string[];
  copyInto(checkout: string): Promise<void>;
  /** The sandbox of checks that use the files. */
  readonly sandbox: Sandbox;
  /** How agents could still read them; `null`: they could not. */
  readonly exposure: string | null;
}

export interface HiddenChecksOptions extends PinnedOptions {
  readonly hidden: HiddenParts;
  readonly checks: ChecksOptions;
  readonly checkouts: ExperimentRunner;
}

/**
 * Runs the checks of passed work once more with files that its author never saw, in a checkout that is removed with
 * everything the run wrote. The judgement has only the number of failures; their details are kept in a report for
 * people.
 */
export function withHiddenChecks(gate: Gate, options: HiddenChecksOptions): Gate {
  const { checks, hidden } = options;
  const evidence = forPeople(checks.evidence);
  const own = createChecksGate({ ...checks, evidence, sandbox: hidden.sandbox });
  return {
    ...gate,
    async run(request, control) {
      const judged = await gate.run(request, control);
      if (judged.result !== "pass" || request.tree === "" || control.signal.aborted) return judged;
      const ran = await runHidden(own, options, request, control.signal);
      if (control.signal.aborted) return judged;
      const verdict = verdictOn(ran, options);
      const logs = await Promise.all(ran.tests.judgement.evidence.map((id) => evidence.read(id)));
      const report = await evidence.keep(hiddenReportText(verdict.failures, ran.tests.judgement, logs));
      const durationMs = judged.durationMs + ran.tests.judgement.durationMs;
      return {
        ...judgedWith(judged, verdict, hidden),
        durationMs,
        hidden: { failed: verdict.failures.length, report },
      };
    },
  };
}

/** Marks every text, so that only an identified person can read it. */
const forPeople = (evidence: Evidence): Evidence => ({ ...evidence, keep: (text) => evidence.keep(markHidden(text)) });

interface HiddenRun {
  readonly tests: TestedJudgement;
  readonly pinned: PinnedTree | null;
}

/** Runs with the base's tests and runner configuration, because the work's own could exclude hidden tests. */
async function runHidden(
  own: ChecksGate,
  options: HiddenChecksOptions,
  request: GateRequest,
  signal: AbortSignal,
): Promise<HiddenRun> {
  const { story, base, commit, tree } = request;
  const changed = await options.workspace.changedPaths(story.id, base, tree);
  const pinned = await pinnedTree(options, request, changed);
  const wanted = { signal, commit: commit === "" ? base : commit, tree, base, isForAgent: true };
  const checkout = await options.checkouts.open(wanted);
  try {
    const files = pinned === null ? tree : await setPinned(checkout, request, pinned);
    await options.hidden.copyInto(checkout.path);
    const quiet = { signal, onOutput: () => undefined };
    return { tests: await own.judgeTests(inCheckout(request, checkout, files), quiet), pinned };
  } finally {
    await checkout.close();
  }
}

interface HiddenVerdict {
  readonly result: Judgement["result"];
  readonly failures: readonly Finding[];
}

/**
 * Returns the verdict. Failures of tests that are not hidden are left out: another run judged them, with the permitted
 * changes to tests.
 */
function verdictOn(
  { tests: { judgement }, pinned }: HiddenRun,
  { hidden: { paths } }: Pick<HiddenChecksOptions, "hidden">,
): HiddenVerdict {
  if (judgement.result !== "fail") return { result: judgement.result, failures: [] };
  const isOther = ({ file }: Finding): boolean =>
    pinned !== null && file !== undefined && !paths.some((path) => isPlaceOf(`${file} > test`, path));
  const red = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
  const failures = red.filter((finding) => !isOther(finding));
  return red.length > 0 && failures.length === 0 ? { result: "pass", failures } : { result: "fail", failures };
}

function judgedWith(judged: Judgement, { result, failures }: HiddenVerdict, { exposure }: HiddenParts): Judgement {
  const { notes: _notes, ...rest } = judged;
  if (result === "pass")
    return withNote(judged, exposure === null ? "hidden checks passed" : `hidden checks passed, but ${exposure}`);
  if (result !== "fail") {
    const summary = `${judged.gate}: ${result} (the hidden checks gave no result; \`remand show\` tells a person why)`;
    return { ...rest, result, summary };
  }
  const finding = hiddenFinding(Math.max(1, failures.length));
  return {
    ...rest,
    result,
    findings: [...judged.findings, finding],
    blocking: [finding.id],
    failure: failureFingerprint(failures, "hidden checks"),
    summary: `${judged.gate}: fail (${finding.message}: ${finding.detail}), 1 to fix`,
  };
}

const hiddenFinding = (count: number): Finding =>
  identifyFinding({
    severity: "major",
    category: HIDDEN_CATEGORY,
    source: "checks",
    message: "the hidden checks failed",
    detail: countText(count, "failure"),
    suggestedFix: "Solve the general case, for inputs that no visible test names; hidden checks are not shown.",
  });

const HIDDEN_CATEGORY = "hidden-check";
