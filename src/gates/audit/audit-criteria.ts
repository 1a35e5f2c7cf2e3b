import type { CheckRun, CriterionResult, Judgement } from "../../core/gates/gate.ts";
import type { ReadCommand, Reading } from "../../core/stories/reading.ts";
import type { Criterion } from "../../core/stories/story.ts";
import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";

/**
 * Returns the audit's result for each criterion of the story, in the story's order, and then for anything else it
 * checked. A criterion without a result is `unknown`: silence proves nothing. A criterion that is called both passed
 * and failed counts as failed.
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
 * Returns what reviewers or an oracle report about the story's criteria besides their verdict, each with its source. A
 * stage that does not run again keeps its results. Empty if no criterion was mentioned, because they need not mention
 * any.
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

/** Returns a question for each criterion that the audit must mention and did not. */
export function unmentionedCriteria(criteria: readonly Criterion[], reading: Reading): string[] {
  const results = criteriaResults(criteria, reading);
  return criteria.flatMap(({ id, text, excused }, index) =>
    results[index]?.status === "unknown" && excused === undefined
      ? [`Is ${id} verified, or has it failed, and what shows it? ${text}`]
      : [],
  );
}

/**
 * Returns the text of the criterion that an auditor refers to, so that it is the same in each round; otherwise the
 * auditor's own words.
 */
export function criterionMeant(criteria: readonly Criterion[], said: string): string {
  return criteria.find((one, index) => isAbout(said, one, index, criteria.length))?.text ?? said;
}

/** Whether a text refers to a criterion: by its id, its number, its words, or an unambiguous part of its words. */
function isAbout(said: string, { id, text }: Criterion, index: number, count: number): boolean {
  const words = bare(said);
  if (words === "") return false;
  const [own, name] = [bare(text), bare(id)];
  if (words === own || words === name || words === `criterion ${index + 1}`) return true;
  if (words.startsWith(`${name} `)) return true;
  // `1.` and `#1` are positions in the list; `1 of 3` too.
  if (new RegExp(`^(?:criterion )?${index + 1}(?: of ${count})?$`).test(words)) return true;
  const [shorter, longer] = words.length < own.length ? [words, own] : [own, words];
  return shorter.length >= SHORTEST_PART && longer.includes(shorter);
}

/** Shorter parts could match several criteria. */
const SHORTEST_PART = 12;

/** Returns only the words of a text, without punctuation and markup. */
function bare(text: string): string {
  return text
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+/gu, " ")
    .replace(/\.(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Returns the runs that count: the engine's own, and the auditor's report for what only the auditor ran. */
export function runsOf(engine: readonly CheckRun[], reading: Reading | null): CheckRun[] {
  const claimed = (reading?.commands ?? []).flatMap((command): CheckRun[] => {
    const result = resultOf(command);
    // A command without an environment counts as run in the engine's, whose result is known.
    if (result === null || command.environment === null || seenBy(engine, command) !== null) return [];
    const check = engine.find((run) => isSame(run, command))?.check ?? command.command;
    const { command: line, environment, result: details } = command;
    return [
      { check, command: line, environment, result, exitCode: null, details: `${details} (reported by the auditor)` },
    ];
  });
  return [...engine, ...claimed];
}

/**
 * Returns commands that the auditor calls failed and that the engine saw pass: the exit code wins, and both are
 * reported.
 */
export function refutedCommands(
  engine: readonly CheckRun[],
  reading: Reading,
): { readonly said: ReadCommand; readonly run: CheckRun }[] {
  return reading.commands.flatMap((said) => {
    const run = resultOf(said) === "fail" ? seenBy(engine, said) : null;
    return run?.result === "pass" ? [{ said, run }] : [];
  });
}

/**
 * Makes a finding of its own category from the auditor's refuted claim, so that the agent that fixes it knows it is
 * disputed.
 */
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
 * Returns where the auditor contradicts the engine's runs or the critic, each as a sentence that begins with the two
 * sides. `null` if there is no contradiction.
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

/** Returns a sentence for each finding of the auditor in a file that the critic passed. */
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
