import { contestedSummary, contestedText, type ContestedTest } from "./contested-test.ts";
import { countText } from "../../stdx/plain-text.ts";
import { type GateName, type Judgement, isReviewed, rulesOnTests } from "./gate.ts";
import type { Finding } from "./finding.ts";
import type { TreeId } from "../events/ids.ts";
import type { OwnerLicense, OwnerRuling } from "./code-owners.ts";

/** What gates said of one state of the files when they were asked by themselves, without an agent and a journal. */
export interface GateReport {
  readonly judged: JudgedState;
  /** In the order in which they were made. */
  readonly judgements: readonly Judgement[];
  /**
   * Gates that are configured or were asked for, and did not run. Listed so that a missing result is not taken for a
   * pass.
   */
  readonly skipped: readonly SkippedGate[];
  /** Tests that the judgements contest no more, because a code owner approved the pull request. */
  readonly licensed?: readonly OwnerLicense[];
  /** Why code owners license no more of them. */
  readonly licenseNotes?: readonly string[];
}

export interface JudgedState {
  /** The commit that was named; `null` for the files as they are. */
  readonly at: string | null;
  /** The commit itself; of files that differ from it, the one they are based on. Empty before the first commit. */
  readonly commit: string;
  readonly tree: TreeId;
  /** What it was compared with: a commit, or the empty tree. */
  readonly base: string;
  /** How the base was found, for people: `origin/main`, `the commit before`. */
  readonly baseName: string;
  /** From the top of the repository to the folder that was judged; findings' files are below it. Empty at the top. */
  readonly folder: string;
  /** The story whose attempts wrote some of it; absent where it is the work of people, as far as git says. */
  readonly attemptOf?: string;
}

export interface SkippedGate {
  readonly gate: GateName;
  readonly why: string;
}

/** Nothing judged is nothing proven: only a pass of everything that judged is one. */
export function isPassed({ judgements }: Pick<GateReport, "judgements">): boolean {
  return judgements.length > 0 && judgements.every(({ result }) => result === "pass");
}

/** What a gate's judgement contests and no reviewer of the report has let through. */
export function openContested(
  { judgements }: Pick<GateReport, "judgements">,
  { gate, contested = [] }: Judgement,
): readonly ContestedTest[] {
  if (isReviewed(gate)) return [];
  const ruled = judgements.filter((each) => rulesOnTests(each.gate) && each.result === "pass");
  const through = new Set(ruled.flatMap((each) => each.contested ?? []).map(({ test }) => test));
  return contested.filter(({ test }) => !through.has(test));
}

/** How contested tests are licensed where no question can be asked. */
export const LICENSE_HINT = "if the change asks for it, allow them with --tests-may-change <glob>";

/** The command that licenses these tests: by their files where they are known, so that it stays short. */
function licenseCommand(tests: readonly ContestedTest[]): string {
  const places = [...new Set(tests.map(({ test, file }) => file ?? test))];
  return ["remand gate", ...places.map((place) => `--tests-may-change ${shellWord(place)}`)].join(" ");
}

const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** With contested tests nothing is proven: for those who want no such pass. */
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

/** Findings that the file was changed which says how work is judged: its owner may allow that. */
export function changedRules({ findings }: Pick<Judgement, "findings">): readonly Finding[] {
  return findings.filter(({ category }) => category === "integrity/rules-changed");
}

/** A judgement that refuses nothing else passes with the change of the rules. */
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

/** Licensed tests are contested no more; what was ruled on them is said beside the judgements. */
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

/** Is it only a person's license that is missing? */
export function needsLicense(report: Pick<GateReport, "judgements">): boolean {
  const others = report.judgements.filter(({ result }) => result !== "pass");
  return (
    others.length > 0 &&
    others.every((each) => each.result === "inconclusive" && openContested(report, each).length > 0)
  );
}

/**
 * What all gates said, on one line, with the contested tests: they hold nothing back, and a person should know them.
 */
export function passedSummary(report: Pick<GateReport, "judgements">): string {
  const contested = report.judgements.flatMap((judgement) => openContested(report, judgement));
  const words = report.judgements.map(({ summary }) => summary);
  return [...words, ...(contested.length === 0 ? [] : [contestedText(contested)])].join("; ");
}
