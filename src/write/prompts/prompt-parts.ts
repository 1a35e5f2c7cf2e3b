import type { ShownWork, VerificationCommand } from "../../core/stories/prompt.ts";
import type { Criterion } from "../../core/stories/story.ts";
import {
  FULL_LIMITS,
  type BriefWriter,
  type BriefPiece,
  bullets,
  evidenceFence,
  instruction,
  line,
  name,
  section,
  joinPieces,
} from "../briefs/brief-writer.ts";
import { dataNotice } from "../untrusted-text.ts";

/*
 * Common parts of prompts. Unlike a brief, a prompt does not shrink step by step: its reader can open the files, so one
 * limit per field is enough.
 */

/** A diff gets more space than a log, because it is what the reviewer judges. */
export const DIFF_CHARS = 60_000;

export function promptPen(nonce: string): BriefWriter {
  return { nonce, limits: FULL_LIMITS, cuts: [] };
}

/** The role's own prompt, a rule, the heading, and the notice about untrusted text. */
export function start(pen: BriefWriter, rolePrompt: string, heading: string, ...facts: readonly string[]): BriefPiece {
  const role = instruction(pen, rolePrompt, pen.limits.roleChars, "the role's prompt");
  return joinPieces([role, role === "" ? "" : "---", heading, facts.join("\n"), dataNotice(pen.nonce)]);
}

export function criteriaList(pen: BriefWriter, criteria: readonly Criterion[]): BriefPiece {
  if (criteria.length === 0) return "- none is written down: the goal is what counts";
  return bullets(
    pen,
    criteria,
    ({ id, text, excused }) =>
      `${name(pen, id)}: ${line(pen, text)}${excused === undefined ? "" : ` (does not count, says ${line(pen, excused.by)}: ${line(pen, excused.reason)})`}`,
    { what: "criteria" },
  );
}

export function commandList(pen: BriefWriter, commands: readonly VerificationCommand[]): BriefPiece {
  if (commands.length === 0) return "- none is configured";
  return bullets(pen, commands, ({ command, environment }) => `\`${line(pen, command)}\` (${name(pen, environment)})`, {
    what: "commands",
  });
}

export function diffFence(pen: BriefWriter, diff: string, label: string): BriefPiece {
  return evidenceFence({ ...pen, limits: { ...pen.limits, evidenceChars: DIFF_CHARS } }, diff, label);
}

/** A diff that may be shortened, and the command that shows all of it to a reviewer in the worktree. */
export function shownWork(pen: BriefWriter, { text, wholeAt }: ShownWork, label: string): BriefPiece {
  return joinPieces([
    text.trim() === "" ? "- nothing changed" : diffFence(pen, text, label),
    wholeAt === undefined ? "" : `The whole of it: \`${line(pen, wholeAt)}\``,
  ]);
}

/** The author's message. An empty message is stated, because reviewers need to know it. */
export function authorsMessage(pen: BriefWriter, message: string): BriefPiece {
  return message.trim() === "" ? "- it said nothing" : evidenceFence(pen, message, "the developer's message");
}

/**
 * Notes on a pass of the checks, which does not show everything: known failures, quarantined tests, no test of the
 * change.
 */
export function checkNotes(pen: BriefWriter, notes: readonly string[] | undefined): BriefPiece {
  const list = bullets(pen, notes ?? [], (note) => line(pen, note), { what: "notes" });
  return list === ""
    ? ""
    : section(
        "### What the Checks Passed in Spite of",
        list,
        "The checks passed, with this. Known failures are not a part of this work.",
      );
}

export function practicesPart(pen: BriefWriter, practices: readonly string[]): BriefPiece {
  return practices
    .map((practice) => instruction(pen, practice, pen.limits.roleChars, "the project's practices"))
    .join("\n\n");
}
