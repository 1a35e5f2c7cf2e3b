import { RemandError } from "../../core/events/error.ts";
import type { Phase } from "../../core/stories/story.ts";
import { markdownLines, findFrontMatter, lineEndOf, nextLine } from "../../stdx/text-lines.ts";

/** The section of a story file that is a phase's product. */
export const SECTION_OF_PHASE = {
  refine: "Refinement",
  research: "Research",
  plan: "Implementation Plan",
} as const satisfies { readonly [P in Exclude<Phase, "implement">]: string };

const NOTES = "Refinement Notes";
const LEVEL = 2;

/**
 * Sets the body of the section under this heading; a missing section is added at the end. Headings in the body are
 * moved to deeper levels than the section's own, so that they do not end the section. Every byte outside the section
 * stays.
 *
 * @internal Tests use it to check the basis of `replaceProduct`.
 */
export function replaceSection(text: string, heading: string, body: string): string {
  return withSection(text, heading, body, findSection(text, heading));
}

/** Phases whose product is text. */
export type TextPhase = keyof typeof SECTION_OF_PHASE;

export const isTextPhase = (phase: Phase): phase is TextPhase => phase !== "implement";

/**
 * Sets the product of a phase. A section with Remand's mark is replaced. A person's section with the same heading
 * stays, and the product is added at the end; but if the story's file says that the phase `isComplete`, that section is
 * the product of another tool and is replaced.
 */
export function replaceProduct(text: string, phase: TextPhase, body: string, isComplete: boolean): string {
  const marked = `${markOf(phase)}\n\n${body.trim()}`;
  return withSection(text, SECTION_OF_PHASE[phase], marked, findProduct(text, phase, isComplete));
}

/** The product of the phase in the text; `null` if it is missing or empty. */
export function productIn(text: string, phase: TextPhase, isComplete: boolean): string | null {
  const found = findProduct(text, phase, isComplete);
  return found === null ? null : bodyOf(text, found, phase) || null;
}

/**
 * The phase's section after an edit of the file: the product, if it changed; else the last new section with that
 * heading. `null` if nothing is new.
 */
export function productEdited(before: string, after: string, phase: TextPhase, isComplete: boolean): string | null {
  const now = productIn(after, phase, isComplete);
  if (now !== null && now !== productIn(before, phase, isComplete)) return now;
  const known = new Set(sectionsOf(before, SECTION_OF_PHASE[phase]).map((each) => bodyOf(before, each, phase)));
  const bodies = sectionsOf(after, SECTION_OF_PHASE[phase]).map((each) => bodyOf(after, each, phase));
  return bodies.findLast((body) => body !== "" && !known.has(body)) ?? null;
}

/** The text without the phases' products: the person's own request. */
export function withoutProducts(text: string, complete: readonly Phase[]): string {
  let rest = text;
  for (const phase of Object.keys(SECTION_OF_PHASE) as TextPhase[]) {
    const found = findProduct(rest, phase, complete.includes(phase));
    if (found !== null) rest = rest.slice(0, found.start) + rest.slice(found.end);
  }
  return rest;
}

const markOf = (phase: TextPhase): string => `<!-- remand: ${phase} -->`;

function bodyOf(text: string, { bodyStart, end }: SectionSpan, phase: TextPhase): string {
  const body = text.slice(bodyStart, end).replaceAll(/\r\n?/g, "\n").trim();
  return body.startsWith(markOf(phase)) ? body.slice(markOf(phase).length).trim() : body;
}

function findProduct(text: string, phase: TextPhase, isComplete: boolean): SectionSpan | null {
  const all = sectionsOf(text, SECTION_OF_PHASE[phase]);
  const marked = all.find(({ bodyStart }) => text.slice(bodyStart).trimStart().startsWith(markOf(phase)));
  return marked ?? (isComplete ? (all.at(-1) ?? null) : null);
}

function withSection(text: string, heading: string, body: string, found: SectionSpan | null): string {
  const eol = lineEndOf(text);
  const inner = withLineEnd(pushedDown(closeFence(body.replaceAll(/\r\n?/g, "\n").trim(), 0, "\n")), eol);
  if (found === null) return `${endWithBlankLine(text, eol)}## ${heading}${eol}${eol}${inner}${eol}`;
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
 * Adds a note about a rework after the earlier ones. The reviewer's message is quoted line by line, so that no line of
 * it is parsed as part of the story. An existing note is not added again.
 */
export function appendRefinementNote(text: string, note: RefinementNote): string {
  const eol = lineEndOf(text);
  const title = `Iteration ${note.iteration}: ${note.phase}`;
  const lines = note.feedback.trim().split(/\r\n?|\n/);
  const quoted = lines.map((line) => `> ${line}`.trimEnd()).join(eol);
  const entry = `### ${title}${eol}${eol}${quoted}${eol}`;
  const section = findSection(text, NOTES);
  if (section === null) return `${endWithBlankLine(text, eol)}## ${NOTES}${eol}${eol}${entry}`;
  if (section.titles.includes(title)) return text;
  const rest = text.slice(section.end);
  return endWithBlankLine(text.slice(0, section.end), eol) + entry + (rest === "" ? "" : eol) + rest;
}

/** The notes of all iterations so far; `null` where there are none. */
export function refinementNotes(text: string): string | null {
  const section = findSection(text, NOTES);
  return section === null ? null : text.slice(section.bodyStart, section.end).trim() || null;
}

interface SectionSpan {
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
  /** The headings inside the section. */
  readonly titles: readonly string[];
}

/** Throws if the front matter is not closed, because an added line could close it. */
function bodyStart(text: string): number {
  const parts = findFrontMatter(text);
  if (parts.kind !== "unterminated") return parts.bodyStart;
  throw new RemandError(
    "story-invalid",
    "the front matter is not closed",
    "Close it with a line of three hyphens: ---",
  );
}

function findSection(text: string, heading: string): SectionSpan | null {
  return sectionsOf(text, heading)[0] ?? null;
}

/** All sections under this heading, in order. */
function sectionsOf(text: string, heading: string): SectionSpan[] {
  const found: SectionSpan[] = [];
  let open: { start: number; bodyStart: number; titles: string[] } | null = null;
  for (const line of markdownLines(text, bodyStart(text))) {
    if (line.kind !== "heading") continue;
    if (open !== null && line.level > LEVEL) {
      open.titles.push(line.title);
      continue;
    }
    if (open !== null) found.push({ ...open, end: line.start });
    const isIt = line.level === LEVEL && line.title.toLowerCase() === heading.toLowerCase();
    open = isIt ? { start: line.start, bodyStart: nextLine(text, line.start), titles: [] } : null;
  }
  return open === null ? found : [...found, { ...open, end: text.length }];
}

/** Closes open fences and comments; otherwise the added text would become code, or a comment. */
function closeFence(text: string, from: number, eol: string): string {
  let open = "";
  for (const line of markdownLines(text, from)) open = line.open;
  return open === "" ? text : `${text}${text.endsWith("\n") ? "" : eol}${open}`;
}

/** Ends the text with a blank line. */
function endWithBlankLine(before: string, eol: string): string {
  const text = closeFence(before, bodyStart(before), eol);
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
