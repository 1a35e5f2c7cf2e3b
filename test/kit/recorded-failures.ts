import type { Brief } from "../../src/core/stories/brief.ts";
import type { RoleName } from "../../src/core/events/ids.ts";
import type { ProcessResult } from "../../src/adapters/process/run-process.ts";
import { UNKNOWN_BASE } from "../../src/core/gates/base-failures.ts";
import { resultOn } from "../../src/gates/checks/check-ending.ts";
import { faultsIn } from "../../src/gates/checks/check-faults.ts";
import { readTestOutput } from "../../src/parse/tests/test-output.ts";
import { sampleBrief } from "./sample-brief.ts";

/** What a tool of a real project printed when the project was broken. */
export interface RecordedFailure {
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
}

/** `# project`, `$ command`, `# exit code 1`, then the output. */
export function recordedIn(text: string): RecordedFailure {
  const [, command, exit, ...output] = text.split("\n");
  return { command: command!.slice(2), exitCode: Number(/\d+$/.exec(exit!)![0]), output: output.join("\n") };
}

/** The brief of a first failure, without blame: everything in it comes from the output. */
export function recordedBrief({ command, exitCode, output }: RecordedFailure, role: RoleName): Brief {
  const ended = {
    status: "exited",
    exitCode,
    signal: null,
    failure: null,
    output,
    stdout: output,
    stderr: "",
    durationMs: 1,
  } satisfies Partial<ProcessResult> as ProcessResult;
  const read = readTestOutput(output, "/project");
  const faults = faultsIn({ name: command, run: command }, ended, read, UNKNOWN_BASE);
  const required = faults.map(({ finding }) => finding);
  return {
    ...sampleBrief({ variant: "goal", gate: "checks", attempt: 2, failure: 1, blame: null, required }),
    story: { id: "recorded", title: "Make the change", goal: "Make the change that was asked for." },
    route: { phase: "implement", role, reason: "" },
    rolePrompt: "",
    summary: resultOn(ended, read, faults).details,
    evidence: [{ title: "the output of the checks gate", text: output, fullAt: ".remand/logs/0123456789ab.log" }],
    information: [],
    requiredFixes: [],
    criteria: [],
    conflicts: [],
    context: [],
    guidance: [],
    earlier: [],
    filesModified: ["src/changed.ts"],
    scope: { allow: [], deny: [], tests: "add-only", exceptions: "with-rationale", reason: "" },
    judgedBy: [command],
  };
}
