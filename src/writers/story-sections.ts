import { RemandError } from "../domain/error.ts";
import type { Phase } from "../domain/phase.ts";
import { findFrontMatter, lineEndOf, nextLine } from "../stdx/front-matter.ts";
import { markdownLines } from "../stdx/markdown-lines.ts";

/** The section of a story file that is a phase's product. */
export const SECTION_OF_PHASE = {
  refine: "Refinement",
  research: "Research",
  plan: "Implementation Plan",
} as const satisfies { readonly [P in Exclude<Phase, "implement">]: string };

const NOTES = "Refinement Notes";
const LEVEL = 2;

/**
 * The text with the section under this heading holding exactly this body; a section that is not there comes at
 * the end. Headings in the body are pushed down below the section's own, so that the section ends where it
 * ends; every byte outside the section stays.
 */
export function replaceSection(text: string, heading: string, body: string): string {
  const eol = lineEndOf(text);
  const inner = withLineEnd(pushedDown(closed(body.replaceAll(/\r\n?/g, "\n").trim(), 0, "\n")), eol);
  const found = findSection(text, heading);
  if (found === null) return `${ended(text, eol)}## ${heading}${eol}${eol}${inner}${eol}`;
  const rest = text.slice(found.end);
  const head = text.slice(0, found.bodyStart);
  const opening = head.endsWith("\n") ? head : head + eol;
  return `${opening}${eol}${inner}${eol}${rest === "" ? "" : eol}${rest}`;
}

export interface RefinementNote {
  readonly iteration: number;
  readonly phase: Phase;
  readonly feedback: string;
}

/**
 * The text with a note about one time the work was sent back, behind the earlier ones. What the reviewer said is
 * quoted line by line, so that nothing in it can pass for a part of the story. A note that is already there is
 * not written again.
 */
export function appendRefinementNote(text: string, note: RefinementNote): string {
  const eol = lineEndOf(text);
  const title = `Iteration ${note.iteration}: ${note.phase}`;
  const lines = note.feedback.trim().split(/\r\n?|\n/);
  const quoted = lines.map((line) => `> ${line}`.trimEnd()).join(eol);
  const entry = `### ${title}${eol}${eol}${quoted}${eol}`;
  const section = findSection(text, NOTES);
  if (section === null) return `${ended(text, eol)}## ${NOTES}${eol}${eol}${entry}`;
  if (section.titles.includes(title)) return text;
  const rest = text.slice(section.end);
  return ended(text.slice(0, section.end), eol) + entry + (rest === "" ? "" : eol) + rest;
}

interface Section {
  readonly bodyStart: number;
  readonly end: number;
  /** The headings inside it. */
  readonly titles: readonly string[];
}

/** A front matter that is not closed would be closed by a line of what is written here. */
function bodyStart(text: string): number {
  const parts = findFrontMatter(text);
  if (parts.kind !== "unterminated") return parts.bodyStart;
  throw new RemandError(
    "story-invalid",
    "the front matter is not closed",
    "Close it with a line of three hyphens: ---",
  );
}

function findSection(text: string, heading: string): Section | null {
  let start = -1;
  const titles: string[] = [];
  for (const line of markdownLines(text, bodyStart(text))) {
    if (line.kind !== "heading") continue;
    if (start < 0) {
      const isIt = line.level === LEVEL && line.title.toLowerCase() === heading.toLowerCase();
      if (isIt) start = nextLine(text, line.start);
    } else if (line.level <= LEVEL) return { bodyStart: start, end: line.start, titles };
    else titles.push(line.title);
  }
  return start < 0 ? null : { bodyStart: start, end: text.length, titles };
}

/** With nothing left open at its end: what comes behind it would be taken for code, or for a comment. */
function closed(text: string, from: number, eol: string): string {
  let open = "";
  for (const line of markdownLines(text, from)) open = line.open;
  return open === "" ? text : `${text}${text.endsWith("\n") ? "" : eol}${open}`;
}

/** With a blank line at its end, ready for the next thing. */
function ended(before: string, eol: string): string {
  const text = closed(before, bodyStart(before), eol);
  if (text === "" || text === "\uFEFF" || /\n\r?\n$/.test(text)) return text;
  return text.endsWith("\n") ? text + eol : text + eol + eol;
}

function withLineEnd(text: string, eol: string): string {
  return eol === "\n" ? text : text.replaceAll("\n", eol);
}

function pushedDown(body: string): string {
  const headings = [...markdownLines(body)].filter((line) => line.kind === "heading");
  const highest = Math.min(...headings.map((line) => line.level));
  const by = LEVEL + 1 - highest;
  if (headings.length === 0 || by <= 0) return body;
  let at = 0;
  let out = "";
  for (const line of headings) {
    const mark = body.indexOf("#", line.start);
    out += body.slice(at, mark) + "#".repeat(Math.min(6, line.level + by));
    at = mark + line.level;
  }
  return out + body.slice(at);
}
