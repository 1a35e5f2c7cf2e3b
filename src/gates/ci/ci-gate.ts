import { failureFingerprint, identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { CiClass, Judgement } from "../../core/gates/gate.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import { readCiLog } from "../../parse/ci/ci-log.ts";
import { readTestOutput } from "../../parse/tests/test-output.ts";
import { countText } from "../../stdx/plain-text.ts";
import { type EnvironmentIn, checkEnvironment, environmentIn } from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess } from "../../adapters/process/run-process.ts";
import { shownPaths } from "../checks/read-reports.ts";
import { inCleanCheckout } from "../clean-gate.ts";
import type { CreateGate } from "../gate-parts.ts";
import { type CiRun, type CiService, createCiForge } from "./ci-forge.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../adapters/process/launch.ts";

export interface CiOptions {
  /** Where CI runs: a forge, or commands in its place. */
  readonly service: CiService;
  readonly evidence: Evidence;
  readonly clock: Clock;
}

/**
 * Runs external CI on exactly this commit. A failure is classified first, because the class decides who gets it and
 * whether it is charged. Two different results on the same tree prove nothing.
 */
export function createCiGate({ service, evidence, clock }: CiOptions): Gate {
  return {
    name: "ci",
    criteria: () => service.judgedBy(),
    async run(request, control) {
      const beganAt = clock.now();
      // For the same tree, request a new run instead of the old result.
      const isAgain = request.last?.tree === request.tree;
      const run = await service.run(request, { ...control, isAgain });
      const kept = run.log === "" ? [] : [await evidence.keep(run.log)];
      return { ...judgementOf(request, run, kept), durationMs: clock.now() - beganAt };
    },
  };
}

export const ciGate: CreateGate = ({ gates, ciPatienceMs }, { evidence, clock, env, sandbox, checkouts, delivery }) => {
  if (delivery === null) return null;
  const { forge, integration } = delivery;
  const { commands } = gates.ci;
  if (commands.length > 0 || forge === null || integration === null)
    return inCleanCheckout(
      createCiGate({ service: createCiCommands({ commands, env, sandbox }), evidence, clock }),
      checkouts,
    );
  const service = createCiForge({ forge, integration, clock, patienceMs: ciPatienceMs });
  return createCiGate({ service, evidence, clock });
};

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
  const classified = readCiLog(run.log);
  const read = { ...classified, reason: failedTests(classified.class, run.log, request.path) ?? classified.reason };
  const finding = findingOf(run, read.class, read.reason, read.excerpt);
  // Jobs of several environments may report the same.
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

/** Returns the failed tests by name, if the log is a test runner's output: a mere count does not help to fix them. */
function failedTests(ciClass: CiClass, log: string, path: string): string | null {
  const failures = ciClass === "test" ? (readTestOutput(log, path)?.failures ?? []) : [];
  const [first] = failures;
  if (first === undefined) return null;
  const more = failures.length - 1;
  const test = first.test ?? "";
  const said = test === "" || first.message.includes(test) ? first.message : `${test}: ${first.message}`;
  return `${said}${more === 0 ? "" : `; ${countText(more, "more test")} failed`}`;
}

const GRAVE: ReadonlySet<CiClass> = new Set(["test", "build"]);

function findingOf(run: CiRun, ciClass: CiClass, reason: string, excerpt: string): Finding {
  return identifyFinding({
    severity: GRAVE.has(ciClass) ? "critical" : "major",
    category: `ci-${ciClass}`,
    message: reason,
    detail: excerpt,
    source: run.name,
  });
}

export interface CiCommandsOptions {
  readonly commands: readonly { readonly name: string; readonly run: string; readonly timeoutMs?: number }[];
  readonly env: EnvironmentIn;
  /** The sandbox of the commands; default: none. */
  readonly sandbox?: Sandbox;
  readonly cookie?: () => string;
}

/** Commands in place of a CI service. They run one after the other; the first failure is the run's failure. */
export function createCiCommands({ commands, env, sandbox = NO_SANDBOX, cookie }: CiCommandsOptions): CiService {
  return {
    judgedBy: () => commands.map(({ run }) => run),
    async run(request, control) {
      const seen = checkEnvironment(await environmentIn(env, request.path));
      const shown = shownPaths(request);
      let log = "";
      for (const { name, run, timeoutMs } of commands) {
        log += `$ ${run}\n`;
        const ran = await runProcess(
          {
            command: run,
            cwd: request.path,
            env: seen,
            sandbox,
            timeoutMs: timeoutMs ?? request.timeoutMs,
            ...(cookie === undefined ? {} : { cookie: cookie() }),
          },
          { signal: control.signal, onLine: shown.lines((line) => control.onOutput(line)) },
        );
        const ended = shown.ended(ran);
        log += `${ended.output}\n${endOf(ended)}\n`;
        const failed = failureOf(ended);
        if (failed !== null) return { ...failed, name, log, step: run, annotations: [] };
      }
      if (commands.length === 0) return NOTHING;
      const name = commands.map((each) => each.name).join(", ");
      return { result: "pass", name, details: "", log, step: null, annotations: [] };
    },
  };
}

const NOTHING: CiRun = {
  result: "inconclusive",
  name: "ci",
  details: "there is neither a forge nor a command to run",
  log: "",
  step: null,
  annotations: [],
};

const endOf = ({ status, exitCode, signal }: ProcessResult): string =>
  status === "exited" ? (signal === null ? `exit code ${exitCode}` : `ended by ${signal}`) : status;

function failureOf(ended: ProcessResult): Pick<CiRun, "result" | "details"> | null {
  if (ended.status === "cancelled") return { result: "error", details: "it was stopped" };
  if (ended.status === "failed-to-start")
    return { result: "error", details: ended.failure?.message ?? "it could not be started" };
  // A timeout is a failure with its own log; the classification tells whose fault it is.
  if (ended.status === "exited" && ended.exitCode === 0) return null;
  return { result: "fail", details: endOf(ended) };
}
