import { failureFingerprint, identified, type Finding } from "../../domain/finding.ts";
import type { CiClass, Judgement } from "../../domain/gate.ts";
import type { EvidenceId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import { readCiLog } from "../../readers/ci-log.ts";
import type { CiRun, CiService } from "./ci-run.ts";

export interface CiOptions {
  /** Where the run happens: a forge, or commands that stand in for one. */
  readonly service: CiService;
  readonly evidence: Evidence;
  readonly clock: Clock;
}

/**
 * An outside CI run over exactly this commit. A failure is classified before anything is done about it, because that
 * decides who gets it and whether anybody is charged. A run that answers differently about the same tree proves nothing.
 */
export function createCiGate({ service, evidence, clock }: CiOptions): Gate {
  return {
    name: "ci",
    judgedBy: () => service.judgedBy(),
    async judge(request, control) {
      const beganAt = clock.now();
      // Asked about the same tree once more, it is asked to run again, not to repeat itself.
      const isAgain = request.last?.tree === request.tree;
      const run = await service.run(request, { ...control, isAgain });
      const kept = run.log === "" ? [] : [await evidence.keep(run.log)];
      return { ...judgementOf(request, run, kept), durationMs: clock.now() - beganAt };
    },
  };
}

function judgementOf(request: GateRequest, run: CiRun, evidence: readonly EvidenceId[]): Omit<Judgement, "durationMs"> {
  const { tree, last } = request;
  const shared = { gate: "ci", tree, findings: [], blocking: [], evidence } as const;
  if (run.result === "pass") {
    const changedItsMind = last !== null && last.tree === tree && last.result === "fail";
    if (changedItsMind && last.ciClass !== "infrastructure")
      return {
        ...shared,
        result: "pass",
        ciClass: "flaky",
        summary: `ci: the same tree failed before and passes now (${run.name})`,
      };
    return { ...shared, result: "pass", summary: `ci: pass (${run.name})` };
  }
  if (run.result !== "fail") return { ...shared, result: run.result, summary: `ci: ${run.result} (${run.details})` };
  const read = readCiLog(run.log);
  const finding = findingOf(run, read.class, read.reason, read.excerpt);
  // Jobs that do the same in several environments say the same.
  const findings = [...new Map([finding, ...run.annotations].map((each) => [each.id, each])).values()];
  const step = run.step ?? read.step;
  const summary = `ci: fail (${read.class}${step === null ? "" : ` in ${step}`}: ${read.reason})`;
  return {
    ...shared,
    result: "fail",
    ciClass: read.class,
    findings,
    blocking: findings.map(({ id }) => id),
    runs: [
      {
        check: run.name,
        command: step ?? run.name,
        environment: "ci",
        result: "fail",
        exitCode: null,
        details: read.reason,
      },
    ],
    summary,
    failure: failureFingerprint([finding], summary),
  };
}

const GRAVE: ReadonlySet<CiClass> = new Set(["test", "build"]);

function findingOf(run: CiRun, ciClass: CiClass, reason: string, excerpt: string): Finding {
  return identified({
    severity: GRAVE.has(ciClass) ? "critical" : "major",
    category: `ci-${ciClass}`,
    message: reason,
    detail: excerpt,
    source: run.name,
  });
}
