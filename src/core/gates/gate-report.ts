import { contestedSummary, contestedText, type ContestedTest } from "./contested-test.ts";
import { countText } from "../../stdx/plain-text.ts";
import { type GateName, type Judgement, isReviewed, rulesOnTests } from "./gate.ts";
import type { Finding } from "./finding.ts";
import type { TreeId } from "../events/ids.ts";
import type { OwnerLicense, OwnerRuling } from "./code-owners.ts";

/** The results of gates that ran on one state of the files by themselves, without an agent and a journal. */
export interface GateReport {
  readonly judged: JudgedState;
  /** In the order in which the gates ran. */
  readonly judgements: readonly Judgement[];
  /** Gates that should have run and did not, so that a missing result is not mistaken for a pass. */
  readonly skipped: readonly SkippedGate[];
  /** Tests that are no longer contested, because a code owner approved the pull request. */
  readonly licensed?: readonly OwnerLicense[];
  /** Why code owners did not license more of the contested tests. */
  readonly licenseNotes?: readonly string[];
}

export interface JudgedState {
  /** The commit that was named; `null` for the files on disk. */
  readonly at: string | null;
  /** The commit itself. If files differ from it, the commit that they are based on. Empty before the first commit. */
  readonly commit: string;
  readonly tree: TreeId;
  /** The base of the comparison: a commit, or the empty tree. */
  readonly base: string;
  /** How the base was found, for people: `origin/main`, `the commit before`. */
  readonly baseName: string;
  /** The judged folder, from the top of the repository; empty at the top. Files of findings are relative to it. */
  readonly folder: string;
  /** The story whose attempts wrote some of the work; absent if git shows only the work of people. */
  readonly attemptOf?: string;
}

export interface SkippedGate {
  readonly gate: GateName;
  readonly why: string;
}

/** Whether all judgements passed. A report without judgements proves nothing. */
export function isPassed({ judgements }: Pick<GateReport, "judgements">): boolean {
  return judgements.length > 0 && judgements.every(({ result }) => result === "pass");
}

/** Returns the tests that a judgement contests and that no reviewer of the report accepted. */
export function openContested(
  { judgements }: Pick<GateReport, "judgements">,
  { gate, contested = [] }: Judgement,
): readonly ContestedTest[] {
  if (isReviewed(gate)) return [];
  const ruled = judgements.filter((each) => rulesOnTests(each.gate) && each.result === "pass");
  const through = new Set(ruled.flatMap((each) => each.contested ?? []).map(({ test }) => test));
  return contested.filter(({ test }) => !through.has(test));
}

/** How to license contested tests where no question can be asked. */
export const LICENSE_HINT = "if the change asks for it, allow them with --tests-may-change <glob>";

/** Builds the command that licenses these tests, by file if the files are known, so that it stays short. */
function licenseCommand(tests: readonly ContestedTest[]): string {
  const places = [...new Set(tests.map(({ test, file }) => file ?? test))];
  return ["remand gate", ...places.map((place) => `--tests-may-change ${shellWord(place)}`)].join(" ");
}

const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Makes a pass with contested tests inconclusive, for callers that do not accept such a pass. */
export function strictReport(report: GateReport): GateReport {
  const judgements = report.judgements.map((judgement): Judgement => {
    const open = openContested(report, judgement);
    if (judgement.result !== "pass" || open.length === 0) return judgement;
    return {
      ...judgement,
      result: "inconclusive",
      summary: `${judgement.gate}: ${contestedText(open)}; if the change asks for it, allow them: ${licenseCommand(open)}`,
    };
  });
  return { ...report, judgements };
}

/** Returns the findings that the rules of the project were changed. A code owner of the file may allow that. */
export function changedRules({ findings }: Pick<Judgement, "findings">): readonly Finding[] {
  return findings.filter(({ category }) => category === "integrity/rules-changed");
}

/** Lets a judgement pass whose only blocking findings are licensed changes of the rules. */
function withRules(judgement: Judgement, own: readonly OwnerLicense[]): Judgement {
  const rules = own.filter(({ why }) => why === "rules-changed");
  const allowed = new Set(
    changedRules(judgement).flatMap(({ id, file }) => (rules.some((each) => each.file === file) ? [id] : [])),
  );
  if (allowed.size === 0) return judgement;
  const blocking = judgement.blocking.filter((id) => !allowed.has(id));
  const isPass = judgement.result === "fail" && blocking.length === 0;
  const notes = rules.map(({ test, by }) => `${test} changed as @${by} approved`).join(", ");
  return {
    ...judgement,
    blocking,
    ...(isPass ? { result: "pass" } : {}),
    summary: `${isPass ? `${judgement.gate}: pass` : judgement.summary}; ${notes}`,
  };
}

/** Removes licensed tests from the contested ones, and adds the code owners' rulings to the report. */
export function licensedReport(report: GateReport, { licensed, notes }: OwnerRuling): GateReport {
  const judgements = report.judgements.map((each): Judgement => {
    const own = licensed.filter(({ gate }) => gate === each.gate);
    const judgement = withRules(each, own);
    if (own.length === 0 || judgement.contested === undefined) return judgement;
    const { contested: before, ...rest } = judgement;
    const names = new Set(own.map(({ test }) => test));
    const left = before.filter(({ test }) => !names.has(test));
    const people = [...new Set(own.map(({ by }) => `@${by}`))].join(" and ");
    const notes = [
      judgement.summary.replace(`; ${contestedSummary(before)}`, () => ""),
      `${countText(own.length, "contested test")} licensed by ${people}`,
      ...(left.length === 0 ? [] : [contestedSummary(left)]),
    ];
    return { ...rest, summary: notes.join("; "), ...(left.length === 0 ? {} : { contested: left }) };
  });
  return {
    ...report,
    judgements,
    ...(licensed.length === 0 ? {} : { licensed }),
    ...(notes.length === 0 ? {} : { licenseNotes: notes }),
  };
}

/** Whether only a person's license is missing. */
export function needsLicense(report: Pick<GateReport, "judgements">): boolean {
  const others = report.judgements.filter(({ result }) => result !== "pass");
  return (
    others.length > 0 &&
    others.every((each) => each.result === "inconclusive" && openContested(report, each).length > 0)
  );
}

/** Joins the summaries of all gates on one line, with the contested tests, which a person should know of. */
export function passedSummary(report: Pick<GateReport, "judgements">): string {
  const contested = report.judgements.flatMap((judgement) => openContested(report, judgement));
  const words = report.judgements.map(({ summary }) => summary);
  return [...words, ...(contested.length === 0 ? [] : [contestedText(contested)])].join("; ");
}
