import type { Blame, Suspect } from "../../core/blame/blame.ts";
import { countText } from "../../stdx/plain-text.ts";
import { unreachable } from "../../stdx/assert.ts";
import { bullets, line, name, path, joinPieces, type BriefWriter, type BriefPiece } from "./brief-writer.ts";

/** Names the change that caused the failure, the confidence, and the reasons; or explains why no change did. */
export function blamePart(blame: Blame, pen: BriefWriter): BriefPiece {
  return joinPieces([
    `${blameSentence(blame)} Confidence ${percent(blame.confidence)}, ${basis(blame)}.`,
    blame.explanation === ""
      ? ""
      : `${blame.verdict === "unmet" ? "What is missing" : "Why"}: ${line(pen, blame.explanation)}`,
    bullets(pen, blame.suspects, (suspect) => suspectLine(suspect, pen), {
      what: "suspects",
      most: pen.limits.suspects,
    }),
  ]);
}

export function basis(blame: Blame): string {
  if (blame.shown === true) return "shown by removal, not proven";
  if (blame.basis === "ranked") return "ranked by reading, not proven";
  return `proven in ${countText(blame.testRuns, "test run")}`;
}

export const percent = (share: number): string => `${Math.round(Math.min(1, Math.max(0, share)) * 100)} %`;

export function place(suspect: Suspect, pen: BriefWriter): string {
  const lines = suspect.endLine !== undefined && suspect.endLine > suspect.line ? `-${suspect.endLine}` : "";
  return `${path(pen, suspect.file)}:${suspect.line}${lines}`;
}

export function commitOf(suspect: Suspect, pen: BriefWriter): string {
  const commit = suspect.commit === undefined ? "(this iteration)" : name(pen, suspect.commit);
  if (suspect.attempt === undefined) return commit;
  const by = suspect.role === undefined ? "" : ` by ${name(pen, suspect.role)}`;
  return `${commit}, attempt ${suspect.attempt}${by}`;
}

function suspectLine(suspect: Suspect, pen: BriefWriter): string {
  const symbol = suspect.symbol === undefined ? "" : ` in \`${name(pen, suspect.symbol)}\``;
  const reasons = suspect.reasons.slice(0, 3).map((reason) => line(pen, reason));
  const why = reasons.length === 0 ? "" : ` Because: ${reasons.join("; ")}`;
  const change = suspect.change === "" ? "" : ` ${line(pen, suspect.change)}`;
  const known = `commit ${commitOf(suspect, pen)}, confidence ${percent(suspect.confidence)}`;
  return `${place(suspect, pen)}${symbol}:${change} [${known}]${why}`;
}

/** Summarizes blame in a sentence. For unfinished work it must not suggest that a change has to be undone. */
export function blameSentence(blame: Blame): string {
  // A suspect that was only ranked, or that runs could not confirm, is not a cause yet.
  const isKnown = blame.basis === "proven" || blame.shown === true;
  switch (blame.verdict) {
    case "culprit":
      if (blame.newCode === true)
        return isKnown
          ? "The new code has a slip that fails its own new tests."
          : "The new tests fail in code that is new with them: it likely has a slip.";
      return isKnown ? "One change caused this." : "One of these changes may have caused this, the likeliest first.";
    case "multi":
      if (!isKnown) return "Several of these changes may have caused this.";
      return blame.together === true
        ? "Several changes caused this together; none of them does it alone."
        : "Several changes caused this, each by itself.";
    case "unmet":
      return "Nothing you changed broke this: it is not done yet. Build what is missing; there is nothing to undo.";
    case "pre-existing":
      return "This failed before your change too. It is not yours to fix, and must not get worse.";
    case "environment":
      return "The environment caused this, not your change.";
    case "flaky":
      return "The same tree passes and fails: this comes and goes by itself.";
    case "too-broad":
      return "The suspects are in unrelated files and could not be told apart.";
    case "unknown":
      return "No change could be held to have caused this.";
    default:
      return unreachable(blame.verdict);
  }
}
