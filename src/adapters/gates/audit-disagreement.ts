import { identified, type Finding } from "../../domain/finding.ts";
import type { CheckRun, Judgement } from "../../domain/gate.ts";
import type { ReadCommand, Reading } from "../../domain/reading.ts";

/** The runs that count: the engine's own, and of what only the auditor ran, the auditor's word. */
export function runsOf(engine: readonly CheckRun[], reading: Reading | null): CheckRun[] {
  const claimed = (reading?.commands ?? []).flatMap((command): CheckRun[] => {
    const result = resultOf(command);
    // A place that nobody named is the one where the engine ran, and the engine's word is there already.
    if (result === null || command.environment === null || seenBy(engine, command) !== null) return [];
    const check = engine.find((run) => isSame(run, command))?.check ?? command.command;
    const { command: line, environment, result: details } = command;
    return [{ check, command: line, environment, result, exitCode: null, details: `${details} (said by the auditor)` }];
  });
  return [...engine, ...claimed];
}

/** Commands that the auditor calls failed and that the engine saw pass: the exit code wins, and both are told. */
export function refuted(
  engine: readonly CheckRun[],
  reading: Reading,
): { readonly said: ReadCommand; readonly run: CheckRun }[] {
  return reading.commands.flatMap((said) => {
    const run = resultOf(said) === "fail" ? seenBy(engine, said) : null;
    return run?.result === "pass" ? [{ said, run }] : [];
  });
}

/** The auditor's claim about a command, as a finding of its own kind: whoever mends it must know that it is disputed. */
export function refutedFinding(
  source: string,
  { said, run }: { readonly said: ReadCommand; readonly run: CheckRun },
): Finding {
  return identified({
    severity: "major",
    category: "disagreement",
    source,
    message: `the auditor says that \`${run.command}\` failed in ${run.environment}, and the engine saw it pass`,
    detail: `the auditor: ${said.result}; the engine: ${run.details}`,
  });
}

/**
 * Where the auditor contradicts the engine's own runs, or the critic, each in a sentence that begins with who stands
 * against whom. `null` where all agree.
 */
export function disagreementOf(
  reading: Reading,
  engine: readonly CheckRun[],
  critic: Judgement | undefined,
  findings: readonly Finding[],
): string | null {
  const red = reading.result === "pass" ? engine.filter((run) => run.result === "fail") : [];
  const sentences = [
    ...red.map(
      (run) =>
        `auditor against engine: the auditor passed the work, and \`${run.command}\` failed in ${run.environment} (${run.details}); the exit code counts`,
    ),
    ...refuted(engine, reading).map(
      ({ run }) =>
        `auditor against engine: the auditor says that \`${run.command}\` failed in ${run.environment}, and the engine saw it pass (${run.details})`,
    ),
    ...(reading.result === "fail" && critic?.result === "pass" ? againstCritic(critic, findings) : []),
  ];
  return sentences.length === 0 ? null : sentences.slice(0, MOST).join("; ");
}

const MOST = 5;

/** The critic read these files and passed them; the auditor finds something there. */
function againstCritic(critic: Judgement, findings: readonly Finding[]): string[] {
  const assessed = Object.entries(critic.quality ?? {}).map(([aspect, said]) => `${aspect}: ${said}`);
  const words = assessed.length === 0 ? "" : ` (${assessed.join(", ")})`;
  return findings.flatMap(({ file, line, message }) =>
    file === undefined
      ? []
      : [
          `auditor against critic: the critic passed ${file}${words}, and the auditor finds at ${file}${line === undefined ? "" : `:${line}`}: ${message}`,
        ],
  );
}

function resultOf({ result }: ReadCommand): "pass" | "fail" | null {
  if (/^(?:pass|ok\b|success|exit 0\b|0$|✅|✓)/i.test(result)) return "pass";
  return /^(?:fail|error|exit [1-9]|[1-9]\d*$|❌|✗)/i.test(result) ? "fail" : null;
}

function seenBy(engine: readonly CheckRun[], said: ReadCommand): CheckRun | null {
  const runs = engine.filter((run) => isSame(run, said));
  if (said.environment === null) return runs.length === 1 ? runs[0]! : null;
  return runs.find((run) => run.environment.toLowerCase() === said.environment!.toLowerCase()) ?? null;
}

const isSame = ({ check, command }: CheckRun, said: ReadCommand): boolean =>
  [check, command].some((name) => name.trim().toLowerCase() === said.command.trim().toLowerCase());
