import { checkEnvironment, environmentIn, type EnvironmentIn } from "../process/environment.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import type { CiRun, CiService } from "./ci-run.ts";
import { shownPaths } from "./shown-paths.ts";

export interface CiCommandsOptions {
  readonly commands: readonly { readonly name: string; readonly run: string; readonly timeoutMs?: number }[];
  readonly env: EnvironmentIn;
  readonly cookie?: () => string;
}

/** Commands that stand in for a CI service: they run one after the other, and the first that fails is the run's failure. */
export function createCiCommands({ commands, env, cookie }: CiCommandsOptions): CiService {
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
            timeoutMs: timeoutMs ?? request.timeoutMs,
            ...(cookie === undefined ? {} : { cookie: cookie() }),
          },
          { signal: control.signal, onLine: (line) => control.onOutput(shown.text(line)) },
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
  // Running too long is a failure with a log of its own: the classification says whose.
  if (ended.status === "exited" && ended.exitCode === 0) return null;
  return { result: "fail", details: endOf(ended) };
}
