import type { StopPlan } from "../cli/inside.ts";
import { knownDurationMs } from "../config/duration.ts";
import type { Blame } from "../domain/blame.ts";
import { printedIn } from "../domain/check-log.ts";
import type { Judgement } from "../domain/gate.ts";
import type { Evidence } from "../ports/evidence.ts";
import { blame } from "./blame.ts";

export interface Suspicion {
  readonly root: string;
  readonly plan: StopPlan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly evidence: Evidence;
  readonly judgement: Judgement;
  /** Does anything differ from the base? */
  readonly hasChanged: boolean;
}

/** Which part of what was changed broke the check. A person waits meanwhile, so it may not take long. */
export async function blameOfStop(suspicion: Suspicion): Promise<Blame> {
  const { root, plan, env, evidence, judgement } = suspicion;
  const [log] = judgement.evidence;
  const output = log === undefined ? null : await evidence.read(log);
  if (output === null) return unknown("the failed check left nothing to read");
  const failed = judgement.runs?.find(({ result }) => result === "fail");
  const isElsewhere = failed !== undefined && Object.hasOwn(plan.config.environments, failed.environment);
  const { runs, time, prove } = plan.config.blame;
  const report = await blame(
    root,
    {
      config: plan.config,
      output: printedIn(output),
      command: isElsewhere ? null : (failed?.command ?? null),
      prove,
      at: null,
      base: null,
      limits: { runs, timeMs: Math.min(knownDurationMs(time), LONGEST_MS) },
      signal: plan.signal,
      onRun: () => undefined,
      onNotice: (text) => plan.onNotice(text),
    },
    env,
  );
  return asTarget(report.blame ?? unknown("the check passes when it is run again"), suspicion);
}

const LONGEST_MS = 120_000;

/**
 * What was red before, in a conversation that changed nothing, is not this conversation's. Where it did change
 * something, the check is what it works towards, and is not met yet.
 */
function asTarget(found: Blame, { hasChanged }: Suspicion): Blame {
  if (!hasChanged) return { ...found, verdict: "pre-existing", suspects: [], explanation: "No file was changed." };
  // Changes that cannot be told apart are all of this conversation's, so it can be asked to mend them.
  if (found.verdict === "too-broad") return { ...found, verdict: "unknown" };
  if (found.verdict !== "pre-existing") return found;
  return { ...found, verdict: "unmet", explanation: `It was red before, and is not met yet. ${found.explanation}` };
}

function unknown(explanation: string): Blame {
  return { verdict: "unknown", basis: "ranked", confidence: 0, suspects: [], explanation, testRuns: 0 };
}
