import type { CheckRun, CriterionResult, Judgement } from "../../core/gates/gate.ts";
import type { ReadCommand, Reading } from "../../core/stories/reading.ts";
import type { Criterion } from "../../core/stories/story.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";

/**
 * What an audit says of each criterion of the story, in the story's order, then what else it looked at. A criterion
 * that it does not mention is `unknown`: silence proves nothing. One that is called both is failed.
 */
export function criteriaResults(
  criteria: readonly Criterion[],
  reading: Pick<Reading, "verification" | "passing">,
): CriterionResult[] {
  const said = [
    ...reading.verification,
    ...reading.passing.map((criterion) => ({ criterion, status: "verified" as const, evidence: "" })),
  ];
  const own = criteria.map((criterion, index): CriterionResult => {
    const about = said.filter((each) => isAbout(each.criterion, criterion, index, criteria.length));
    const verdict =
      about.find(({ status }) => status === "failed") ??
      about.find(({ status, evidence }) => status === "verified" && evidence !== "") ??
      about.find(({ status }) => status === "verified");
    return { criterion: criterion.text, status: verdict?.status ?? "unknown", evidence: verdict?.evidence ?? "" };
  });
  const other = said.filter(
    (each) =>
      each.status !== "unknown" && !criteria.some((one, index) => isAbout(each.criterion, one, index, criteria.length)),
  );
  return [...own, ...other.map(({ criterion, status, evidence }) => ({ criterion, status, evidence }))];
}

/**
 * What reviewers, or an oracle, say of the story's criteria beside their verdict, each with who says it. A stage that is
 * not looked at again keeps what it said. None where no criterion was mentioned, since they need not do it.
 */
export function mentionedCriteria(
  criteria: readonly Criterion[],
  readings: readonly { readonly role: string; readonly reading: Pick<Reading, "verification" | "passing"> }[],
  kept: readonly CriterionResult[] = [],
): readonly CriterionResult[] {
  const said = readings.flatMap(({ role, reading }) =>
    criteriaResults(criteria, reading)
      .slice(0, criteria.length)
      .map((result) => ({ ...result, evidence: `${result.evidence} (${role})`.trim() })),
  );
  const results = criteria.map(({ text }): CriterionResult => {
    const about = [...said, ...kept].filter(({ criterion, status }) => criterion === text && status !== "unknown");
    const verdict = about.find(({ status }) => status === "failed") ?? about[0];
    return verdict ?? { criterion: text, status: "unknown", evidence: "" };
  });
  return results.some(({ status }) => status !== "unknown") ? results : [];
}

/** The criteria, in the prompt's words, that an audit has to name and did not. */
export function unmentionedCriteria(criteria: readonly Criterion[], reading: Reading): string[] {
  const results = criteriaResults(criteria, reading);
  return criteria.flatMap(({ id, text, excused }, index) =>
    results[index]?.status === "unknown" && excused === undefined
      ? [`Is ${id} verified, or has it failed, and what shows it? ${text}`]
      : [],
  );
}

/** The criterion of the story that an auditor means, so that it is the same one each time; else as the auditor put it. */
export function criterionMeant(criteria: readonly Criterion[], said: string): string {
  return criteria.find((one, index) => isAbout(said, one, index, criteria.length))?.text ?? said;
}

/** By its id, by its number, by its words, or by so many of them that nothing else can be meant. */
function isAbout(said: string, { id, text }: Criterion, index: number, count: number): boolean {
  const words = bare(said);
  if (words === "") return false;
  const [own, name] = [bare(text), bare(id)];
  if (words === own || words === name || words === `criterion ${index + 1}`) return true;
  if (words.startsWith(`${name} `)) return true;
  // `1.` and `#1` count the list; `1 of 3` does too.
  if (new RegExp(`^(?:criterion )?${index + 1}(?: of ${count})?$`).test(words)) return true;
  const [shorter, longer] = words.length < own.length ? [words, own] : [own, words];
  return shorter.length >= SHORTEST_PART && longer.includes(shorter);
}

/** A shorter piece of a sentence could be a piece of many. */
const SHORTEST_PART = 12;

/** Words alone: what people put around them differs. */
function bare(text: string): string {
  return text
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+/gu, " ")
    .replace(/\.(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The runs that count: the engine's own, and of what only the auditor ran, the auditor's report. */
export function runsOf(engine: readonly CheckRun[], reading: Reading | null): CheckRun[] {
  const claimed = (reading?.commands ?? []).flatMap((command): CheckRun[] => {
    const result = resultOf(command);
    // An unnamed environment is the engine's own, and its result is there already.
    if (result === null || command.environment === null || seenBy(engine, command) !== null) return [];
    const check = engine.find((run) => isSame(run, command))?.check ?? command.command;
    const { command: line, environment, result: details } = command;
    return [{ check, command: line, environment, result, exitCode: null, details: `${details} (said by the auditor)` }];
  });
  return [...engine, ...claimed];
}

/** Commands that the auditor calls failed and that the engine saw pass: the exit code wins, and both are reported. */
export function refutedCommands(
  engine: readonly CheckRun[],
  reading: Reading,
): { readonly said: ReadCommand; readonly run: CheckRun }[] {
  return reading.commands.flatMap((said) => {
    const run = resultOf(said) === "fail" ? seenBy(engine, said) : null;
    return run?.result === "pass" ? [{ said, run }] : [];
  });
}

/** The auditor's claim about a command, as a finding of its own kind: the agent that fixes it must know that it is disputed. */
export function refutedFinding(
  source: string,
  { said, run }: { readonly said: ReadCommand; readonly run: CheckRun },
): Finding {
  return identifyFinding({
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
    ...refutedCommands(engine, reading).map(
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
