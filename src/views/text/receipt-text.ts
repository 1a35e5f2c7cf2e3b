import type { CommitVerification, CommitsDocument, ReceiptMatch, ReceiptPredicate } from "../../core/events/receipt.ts";
import { countText } from "../../stdx/plain-text.ts";

/** What was found out about commits, for people: a line for each, and under it what the receipt says. */
export function commitsText({ commits, ok, keys, keysFrom }: CommitsDocument): string {
  const held = commits.filter(({ match }) => match !== null).length;
  const required = commits.filter(({ isRequired, match }) => isRequired && match === null).length;
  const lines = commits.flatMap(commitLines);
  const sum = `${countText(held, "commit")} of ${commits.length} with a receipt`;
  const missing = required === 0 ? "" : `; ${countText(required, "commit")} without one that must have it`;
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

/** The gates, and whatever a reader should know before they trust it. */
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
