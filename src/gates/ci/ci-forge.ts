import { countText } from "../../stdx/plain-text.ts";
import { RemandError } from "../../core/events/error.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Forge, ForgeAnnotation, ForgeCheck, ForgeLog } from "../../ports/forge.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Integration } from "../../ports/workspace.ts";
import type { Result } from "../../core/events/error.ts";

export interface CiForgeOptions {
  readonly forge: Forge;
  readonly integration: Integration;
  readonly clock: Clock;
  /** How long a CI run may take; the gate's own timeout is for reviewers. */
  readonly patienceMs: number;
}

/** The forge's CI: pushes the branch, and waits for the checks of its newest commit. */
export function createCiForge({ forge, integration, clock, patienceMs }: CiForgeOptions): CiService {
  async function waitForChecks(
    commit: string,
    { signal, onOutput }: CiControl,
  ): Promise<readonly ForgeCheck[] | string> {
    const until = clock.now() + patienceMs;
    const appearBy = clock.now() + Math.min(APPEAR_MS, patienceMs);
    let pauseMs = FIRST_PAUSE_MS;
    let said = "";
    while (!signal.aborted) {
      const checks = await forge.checks(commit, signal);
      const open = checks.filter(({ state }) => state === "waiting" || state === "running");
      if (checks.length > 0 && open.length === 0) return checks;
      if (checks.length === 0 && clock.now() >= appearBy) return "nothing ran over this commit";
      if (clock.now() >= until) return `still not ended: ${open.map(({ name }) => name).join(", ")}`;
      const now = `${checks.length - open.length} of ${countText(checks.length, "check")} ended`;
      if (now !== said) onOutput(now);
      said = now;
      await clock.sleep(pauseMs, signal);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
    }
    return "it was stopped";
  }

  return {
    judgedBy: () => [`every check of ${forge.name} over the branch`],
    run: (request, control) =>
      watchCi(request, control).catch((error: unknown) => {
        if (!(error instanceof RemandError)) throw error;
        // An unreachable forge says nothing about the work: the result is an error of the gate, not a failed run.
        return unknownRun(forge, "error", `${error.message} — ${error.hint}`);
      }),
  };

  async function watchCi(request: GateRequest, control: CiControl): Promise<CiRun> {
    if (!control.signal.aborted) await integration.publish(request.story.id, request.commit);
    if (control.isAgain) {
      await rerunFailed(forge, request.commit, control.signal);
      // Wait, because the forge shows the previous run's result until it has noticed the rerun.
      await clock.sleep(FIRST_PAUSE_MS, control.signal);
    }
    const checks = await waitForChecks(request.commit, control);
    if (typeof checks === "string") return unknownRun(forge, control.signal.aborted ? "error" : "inconclusive", checks);
    return checks.some(({ state }) => state === "failed")
      ? failedRun(forge, checks, control.signal)
      : passedOrNot(forge, checks);
  }
}

const APPEAR_MS = 2 * 60_000;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;
/** The first few failures explain the others, or are alike. */
const MOST_LOGS = 3;

async function rerunFailed(forge: Forge, commit: string, signal: AbortSignal): Promise<void> {
  for (const check of await forge.checks(commit, signal))
    if (check.state === "failed" || check.state === "cancelled") await forge.rerun(check, signal);
}

const unknownRun = ({ name }: Forge, result: "error" | "inconclusive", details: string): CiRun => ({
  result,
  name,
  details,
  log: "",
  step: null,
  annotations: [],
});

async function failedRun(forge: Forge, checks: readonly ForgeCheck[], signal: AbortSignal): Promise<CiRun> {
  const failed = checks.filter(({ state }) => state === "failed");
  const logs: [ForgeCheck, ForgeLog][] = [];
  for (const check of failed.slice(0, MOST_LOGS)) logs.push([check, await forge.logOf(check, signal)]);
  return {
    result: "fail",
    name: failed.map(({ name }) => name).join(", "),
    details: failed[0]!.summary,
    log: logs.map(([check, log]) => withTitle(check, log)).join("\n"),
    step: logs[0]?.[1].step ?? failed[0]!.name,
    annotations: logs.flatMap(([, { annotations }]) => annotations.flatMap(annotationFindings)),
  };
}

/**
 * Returns the result if no check failed. A cancelled check is not a pass, and if all were skipped, nothing is proven.
 */
function passedOrNot(forge: Forge, checks: readonly ForgeCheck[]): CiRun {
  // The evidence is each check's summary, with the link to its full output.
  const log = checks.map(({ name, state, url, summary }) => [name, state, summary, url ?? ""].join("  ").trim());
  const shared = { log: `${log.join("\n")}\n`, step: null, annotations: [] } as const;
  const cancelled = checks.filter(({ state }) => state === "cancelled");
  const passed = checks.filter(({ state }) => state === "passed");
  if (cancelled.length > 0)
    return {
      ...shared,
      result: "inconclusive",
      name: forge.name,
      details: `cancelled: ${cancelled.map(({ name }) => name).join(", ")}`,
    };
  if (passed.length === 0)
    return { ...shared, result: "inconclusive", name: forge.name, details: "every check was skipped" };
  return { ...shared, result: "pass", name: passed.map(({ name }) => name).join(", "), details: "" };
}

function withTitle(check: ForgeCheck, log: ForgeLog): string {
  const cut = log.isPartial ? " (a part of the log is missing)" : "";
  return `── ${check.name}${cut}\n${log.text}`;
}

function annotationFindings({ level, path, line, message }: ForgeAnnotation): Finding[] {
  if (level !== "failure" || path === "" || path === ".github") return [];
  return [
    identifyFinding({
      severity: "major",
      category: "ci-annotation",
      message,
      source: "ci",
      file: path,
      ...(line > 0 ? { line } : {}),
    }),
  ];
}

/** The result of an external CI run. */
export interface CiRun {
  readonly result: Result;
  /** The name of the service, for a person. */
  readonly name: string;
  readonly details: string;
  readonly log: string;
  readonly step: string | null;
  readonly annotations: readonly Finding[];
}

export interface CiControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
  /** Whether this same tree was judged before. */
  readonly isAgain: boolean;
}

/** A CI service: a forge, or commands in its place. */
export interface CiService {
  run(request: GateRequest, control: CiControl): Promise<CiRun>;
  judgedBy(): readonly string[];
}
