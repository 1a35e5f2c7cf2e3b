import type { Blame, Suspect } from "../../core/blame/blame.ts";
import type { ChangedHunk } from "../../core/blame/change.ts";
import { countText } from "../../stdx/plain-text.ts";
import { unreachable } from "../../stdx/assert.ts";
import type { ProofAnswer } from "./prove-blame.ts";
import type { RankedBlame, RankedHunk } from "./rank-blame.ts";

/** What is known when the verdict is made. */
export interface VerdictInput {
  readonly ranked: RankedBlame;
  /** The result of the runs; `null` if there were none. */
  readonly proof: ProofAnswer | null;
  /** The statements and lines inside the named hunks, if the runs got that far. */
  readonly parts?: readonly RankedHunk[];
  /** How the same tests ended on the base; `null` if they did not run there. */
  readonly base: "pass" | "fail-same" | "fail-other" | null;
  /** Every failing test is new with the iteration. */
  readonly isNewTest: boolean;
  /** Why the environment may be the cause; `null` if there is no sign of it. */
  readonly environment: string | null;
}

/** The confidence of a proof, which leaves room for causes that were not considered. */
const PROVEN = 0.99;
/** The highest confidence without a run. */
const SUREST_RANKED = 0.95;
/** The confidence of a cause shown by removal alone. */
const SHOWN = 0.9;
/** The highest confidence if the runs were inconclusive, whatever the ranking. */
const SUREST_UNSETTLED = 0.6;
/** The confidence of an only change: it is the likeliest without any comparison. */
const ONLY_CHANGE = 0.5;
const MOST_SUSPECTS = 5;
/** Suspects are listed until they have this share of the likelihood. */
const ENOUGH = 0.95;
/** Below this confidence, the likeliest of suspects in several files is only a guess. */
const LEAST_CONFIDENCE = 0.2;

/** Combines ranking, runs and other evidence into one verdict with its reasons. The same input gives the same text. */
export function verdictOf(input: VerdictInput): Blame {
  return input.proof === null ? byReading(input) : byRuns(input, input.proof);
}

function byRuns({ ranked, environment, parts = [] }: VerdictInput, proof: ProofAnswer): Blame {
  const whole = proof.hunks.flatMap((id) => ranked.hunks.find(({ hunk }) => hunk.id === id) ?? []);
  const chosen = whole.map((each) => ({ ...(parts.find((part) => isInside(part, each)) ?? each), ...sureOf(each) }));
  const facts = { basis: proof.proven ? ("proven" as const) : ("ranked" as const), testRuns: proof.runs };
  const because = `${capital(proof.because)}.`;
  switch (proof.kind) {
    case "culprit":
    case "multi":
    case "joint":
    case "slip":
      return { ...facts, ...culpritsOf(ranked, proof, chosen), explanation: because };
    case "unmet":
    case "too-broad":
      return {
        ...facts,
        verdict: proof.kind,
        confidence: 0.7,
        suspects: chosen.length > 0 ? chosen.map((each) => suspectOf(each, each.confidence, null)) : likeliest(ranked),
        explanation: because,
      };
    case "environment":
      return {
        ...facts,
        verdict: "environment",
        confidence: proof.proven ? 0.95 : 0.7,
        suspects: [],
        explanation: environment === null ? because : `${capital(environment)}. ${because}`,
      };
    case "pre-existing":
    case "flaky":
      return {
        ...facts,
        verdict: proof.kind,
        confidence: proof.proven ? PROVEN : 0.7,
        suspects: [],
        explanation: because,
      };
    case "unknown":
      return {
        ...byReading({ ranked, proof: null, base: null, isNewTest: false, environment }),
        testRuns: proof.runs,
        explanation: `${because} By reading alone: ${byReadingWords(ranked)}`,
      };
    default:
      return unreachable(proof.kind);
  }
}

function culpritsOf(
  ranked: RankedBlame,
  proof: ProofAnswer,
  chosen: readonly RankedHunk[],
): Omit<Blame, "basis" | "testRuns" | "explanation"> {
  const isShown = !proof.proven && proof.isShown === true;
  const likely = Math.max(0, ...chosen.map((each) => each.confidence));
  const confidence = proof.proven ? PROVEN : isShown ? SHOWN : Math.min(SUREST_UNSETTLED, likely);
  const named = chosen.map((each) => suspectOf(each, confidence, proof.proven ? proof.because : null));
  return {
    verdict: proof.kind === "culprit" || proof.kind === "slip" ? "culprit" : "multi",
    confidence,
    suspects: proof.proven ? named : withOthers(named, ranked, 1 - confidence),
    ...(proof.kind === "joint" ? { together: true } : {}),
    ...(proof.kind === "slip" ? { newCode: true } : {}),
    ...(isShown ? { shown: true } : {}),
  };
}

/** The lines are those of the part; confidence and symbol are those of the hunk. */
const sureOf = ({ confidence, symbol }: RankedHunk): Pick<RankedHunk, "confidence" | "symbol"> => ({
  confidence,
  symbol,
});

const isInside = (part: RankedHunk, { hunk }: RankedHunk): boolean =>
  part.hunk.file === hunk.file && part.hunk.start >= hunk.start && part.hunk.end <= Math.max(hunk.end, hunk.start);

function byReading({ ranked, base, isNewTest, environment }: VerdictInput): Blame {
  const facts = { basis: "ranked" as const, testRuns: 0 };
  const [first] = ranked.hunks;
  if (base === "fail-same" || base === "fail-other") {
    if (environment !== null)
      return {
        ...facts,
        verdict: "environment",
        confidence: 0.85,
        suspects: [],
        explanation: `${capital(environment)}, on the base too.`,
      };
    if (isNewTest)
      return {
        ...facts,
        verdict: "unmet",
        confidence: 0.75,
        suspects: likeliest(ranked),
        explanation: "The failing tests are new, and the base fails them too.",
      };
    const confidence = base === "fail-same" ? 0.9 : 0.6;
    return {
      ...facts,
      verdict: "pre-existing",
      confidence,
      suspects: [],
      explanation: `The same tests failed on the base${base === "fail-same" ? " in the same way" : ", in another way"}.`,
    };
  }
  if (environment !== null && (base === null || !ranked.isReached))
    return { ...facts, verdict: "environment", confidence: 0.7, suspects: [], explanation: `${capital(environment)}.` };
  if (first === undefined)
    return {
      ...facts,
      verdict: "unknown",
      confidence: 0,
      suspects: [],
      explanation: "Nothing changed that could have caused it.",
    };
  if (!ranked.isReached)
    return {
      ...facts,
      verdict: "unknown",
      confidence: 0.3,
      suspects: likeliest(ranked),
      explanation: "Nothing that changed can be reached from the failing tests.",
    };
  const suspects = likeliest(ranked);
  const confidence = Math.min(ranked.hunks.length === 1 ? ONLY_CHANGE : SUREST_RANKED, first.confidence);
  const files = new Set(suspects.map((suspect) => suspect.file));
  if (confidence < LEAST_CONFIDENCE && files.size > 2)
    return {
      ...facts,
      verdict: "too-broad",
      confidence,
      suspects,
      explanation: `Suspects in ${files.size} files are nearly as likely as each other.`,
    };
  return { ...facts, verdict: "culprit", confidence, suspects, explanation: byReadingWords(ranked) };
}

function byReadingWords({ hunks }: RankedBlame): string {
  const [first] = hunks;
  if (first === undefined) return "nothing changed that could have caused it.";
  if (hunks.length === 1) return `${first.hunk.file}:${first.hunk.start} is the only change.`;
  const why = first.reasons.length === 0 ? "nothing else is likelier" : first.reasons.slice(0, 3).join("; ");
  return `${first.hunk.file}:${first.hunk.start} is the likeliest of ${countText(hunks.length, "change")}: ${why}.`;
}

function likeliest({ hunks }: RankedBlame): Suspect[] {
  const suspects: Suspect[] = [];
  let sum = 0;
  for (const each of hunks.slice(0, MOST_SUSPECTS)) {
    suspects.push(suspectOf(each, Math.min(SUREST_RANKED, each.confidence), null));
    sum += each.confidence;
    if (sum >= ENOUGH) break;
  }
  return suspects;
}

/** Adds the likeliest other suspects, because an unproven one may be wrong and fixing the others must stay in scope. */
function withOthers(named: readonly Suspect[], ranked: RankedBlame, most: number): Suspect[] {
  const others = likeliest(ranked)
    .filter(({ file, line }) => !named.some((each) => each.file === file && each.line === line))
    .slice(0, MOST_OTHERS)
    .map((each) => ({ ...each, confidence: Math.round(Math.min(each.confidence, most) * 1000) / 1000 }));
  return [...named, ...others];
}

const MOST_OTHERS = 2;

function suspectOf({ hunk, symbol, reasons }: RankedHunk, confidence: number, shown: string | null): Suspect {
  return {
    file: hunk.file,
    line: hunk.start,
    ...(hunk.end > hunk.start ? { endLine: hunk.end } : {}),
    ...(symbol === null ? {} : { symbol }),
    change: changeWords(hunk),
    confidence: Math.round(confidence * 1000) / 1000,
    reasons: shown === null ? reasons : [shown, ...reasons],
  };
}

const LONGEST_QUOTE = 80;

/** Describes what the change did, in a few words. */
function changeWords({ change, isBinary, oldFile, removed, added }: ChangedHunk): string {
  if (isBinary) return "a binary file changed";
  if (removed.length + added.length === 0)
    return change === "renamed" ? `renamed from ${oldFile}` : `the file was ${change}`;
  if (removed.length === 1 && added.length === 1)
    return `\`${quoteLine(removed[0]!)}\` became \`${quoteLine(added[0]!)}\``;
  if (added.length === 0) return `${countText(removed.length, "line")} removed: \`${quoteLine(removed[0]!)}\``;
  if (removed.length === 0)
    return `${countText(added.length, "line")} added: \`${quoteLine(added.find((line) => line.trim() !== "") ?? "")}\``;
  return removed.length === added.length
    ? `changed ${countText(added.length, "line")}`
    : `changed ${countText(removed.length, "line")} to ${added.length}`;
}

function quoteLine(line: string): string {
  const text = line.trim().replaceAll("`", "'");
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
