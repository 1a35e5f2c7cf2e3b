import type { Answer, Recorded } from "../../core/events/event.ts";
import {
  type LetThrough,
  RECEIPT_TYPE,
  type ReceiptAnswer,
  type ReceiptGate,
  type ReceiptIsolation,
  type ReceiptKind,
  type ReceiptStatement,
  STATEMENT_TYPE,
  type CommitVerification,
  type CommitsDocument,
  type ReceiptMatch,
  type ReceiptPredicate,
} from "../../core/events/receipt.ts";
import { contestedWords } from "../../core/gates/contested-test.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { canonicalJson, instant } from "../../stdx/canonical-json.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { countText, plural } from "../../stdx/plain-text.ts";

/** A journal line that needs a receipt, with the story's state after that line. */
export interface ReceiptMoment {
  readonly kind: ReceiptKind;
  /** The story's lines up to that line. */
  readonly lines: readonly Recorded[];
  readonly state: StoryState;
  readonly at: number;
  readonly journal: { readonly id: string; readonly position: number; readonly hash: string };
}

/** The statement of the receipt; `null` if there is no work yet. */
export function receiptStatement(
  moment: ReceiptMoment,
  { version, signedAt }: { readonly version: string; readonly signedAt: number },
): ReceiptStatement | null {
  const { state, lines, kind } = moment;
  const { story, tree, commit, policy } = state;
  if (tree === null || commit === "" || policy === null) return null;
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: `${story.id} (commit)`, digest: { gitCommit: commit } },
      { name: `${story.id} (tree)`, digest: { gitTree: tree } },
    ],
    predicateType: RECEIPT_TYPE,
    predicate: {
      kind,
      at: instant(moment.at),
      signedAt: new Date(signedAt).toISOString(),
      story: { id: story.id, title: story.title },
      ...commitsIn(lines, commit),
      gates: gatesIn(lines, state),
      letThrough: letThroughBy(lines, state),
      answers: lines.flatMap(({ event, at }) => (event.type === "person.answered" ? [answerOf(event.answer, at)] : [])),
      isolation: isolationIn(lines),
      journal: moment.journal,
      policy: sha256(canonicalJson(policy)),
      remand: version,
    },
  };
}

function commitsIn(lines: readonly Recorded[], last: string): { base: string; commits: readonly string[] } {
  let base = "";
  const commits = new Set<string>();
  for (const { event } of lines) {
    if (event.type === "story.prepared") base = event.commit;
    else if (
      event.type === "attempt.finished" ||
      event.type === "lint.fixed" ||
      event.type === "branch.updated" ||
      event.type === "tree.restored" ||
      event.type === "work.adopted"
    )
      if (event.commit !== "" && event.commit !== base) commits.add(event.commit);
  }
  commits.delete(last);
  return { base, commits: [...commits, last] };
}

/** The last judgement of each gate, in the order in which the gates first ran. */
function gatesIn(lines: readonly Recorded[], { waivers }: StoryState): readonly ReceiptGate[] {
  const last = new Map<GateName, Judgement>();
  for (const { event } of lines) if (event.type === "gate.judged") last.set(event.judgement.gate, event.judgement);
  const waived = new Set(waivers.map(({ gate }) => gate));
  return [...last.values()].map(({ gate, result, tree, summary, evidence }) => ({
    gate,
    result: result !== "pass" && waived.has(gate) ? "waived" : result,
    tree,
    summary,
    evidence,
  }));
}

function letThroughBy(lines: readonly Recorded[], state: StoryState): LetThrough {
  const { ending, waivers, licensed = [], known = [] } = state;
  const accepted = ending?.how === "accepted" ? ending : null;
  const contested = Object.values(state.gates).flatMap(({ last }) => last?.contested ?? []);
  return {
    notes: lines.flatMap(({ event }) => (event.type === "story.accepted" ? (event.notes ?? []) : [])),
    waived: waivers.map(({ gate, findings, by, identity, reason }) => ({
      gate,
      findings,
      by,
      ...(identity === undefined ? {} : { identity }),
      reason,
    })),
    contested: [...new Set(contested.map((test) => `${test.test} ${contestedWords(test)}`))],
    licensed,
    knownFailures: known,
    ...(accepted?.forced == null ? {} : { forced: accepted.forced }),
  };
}

/** Answers of older versions do not record how their author is known. */
const answerOf = ({ verb, by, identity = "claim", message }: Answer, at: number): ReceiptAnswer => ({
  verb,
  by,
  identity,
  message,
  at: instant(at),
});

/** The key is exposed unless the sandbox isolates files: it is in a folder that such a sandbox hides. */
function isolationIn(lines: readonly Recorded[]): ReceiptIsolation {
  const levels = lines.flatMap(({ event }) => (event.type === "attempt.started" ? [event.isolation ?? "unknown"] : []));
  const agents = [...new Set(levels)];
  const isKeyExposed = agents.some((level) => !/\(.*\bfiles\b/.test(level.split(";")[0]!));
  const meaning = isKeyExposed
    ? "An agent ran without isolation: it could have read the key that signs this receipt."
    : "The key that signs this receipt was out of reach of the agents.";
  return { agents, isKeyExposed, meaning };
}

/** The results for commits, for people: one line per commit, and below it the receipt's content. */
export function commitsText({ commits, ok, keys, keysFrom }: CommitsDocument): string {
  const held = commits.filter(({ match }) => match !== null).length;
  const required = commits.filter(({ isRequired, match }) => isRequired && match === null).length;
  const lines = commits.flatMap(commitLines);
  const sum = `${countText(held, "commit")} of ${commits.length} with a receipt`;
  const missing =
    required === 0 ? "" : `; ${countText(required, "commit")} ${plural(required, "lacks", "lack")} a required receipt`;
  const known = keys === 0 ? `there are no keys in ${keysFrom}` : `${countText(keys, "key")} from ${keysFrom}`;
  const way = keys === 0 ? ["Add yours and commit it on the base branch: remand key show >> remand.keys"] : [];
  return [...lines, `${ok ? "verified" : "not verified"}: ${sum}${missing}; ${known}`, ...way].join("\n");
}

const HOW: Readonly<Record<ReceiptMatch, string>> = {
  commit: "is the accepted commit",
  tree: "has the accepted files",
  merge: "merges the accepted commit",
  squash: "is a squash or rebase of the accepted commit",
  earlier: "is an earlier state of the accepted commit",
};

function commitLines({ commit, subject, match, receipt, problem }: CommitVerification): readonly string[] {
  const name = `${commit.slice(0, 12)} ${subject}`;
  if (match === null || receipt === null) return [`✖ ${name}`, `    ${problem}`];
  const { predicate, key } = receipt;
  const about = match === "commit" ? "" : ` ${receipt.commit.slice(0, 12)}`;
  const head = `    ${HOW[match]}${about} of ${predicate.story.id}, ${predicate.at}, key ${key.slice(0, 16)}`;
  const said = match === "earlier" ? [] : predicateLines(predicate).map((line) => `    ${line}`);
  return [`✔ ${name}`, head, ...said];
}

/** The gates, and what a reader should know before trusting them. */
function predicateLines({ gates, letThrough, isolation }: ReceiptPredicate): readonly string[] {
  const { notes, waived, contested, licensed, knownFailures, forced } = letThrough;
  return [
    gates.map(({ gate, result }) => `${gate}: ${result}`).join(", "),
    ...(forced === undefined ? [] : [`accepted by ${forced.by} although gates had not passed: ${forced.reason}`]),
    ...waived.map(({ gate, by, identity = "claim", reason }) => `${gate} waived by ${by} (${identity}): ${reason}`),
    ...contested.map((test) => `contested: ${test}`),
    ...licensed.map(({ test, by, reason }) => `allowed to change by ${by}: ${test} (${reason})`),
    ...knownFailures.map(({ test, reason }) => `known failure: ${test} (${reason})`),
    ...notes.map((note) => `note: ${note}`),
    ...(isolation.isKeyExposed ? [isolation.meaning] : []),
  ].filter((line) => line !== "");
}
