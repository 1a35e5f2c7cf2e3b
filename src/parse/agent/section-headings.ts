import type { Signal } from "../../core/stories/reading.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { takeFence, watchFences } from "./fences.ts";
import { severityFromWord, type Severity } from "../../core/gates/finding.ts";

export type SectionName = (typeof NAMES)[number][0];

/** The contents of a section. */
export interface MessageSection {
  /** Text on the heading's own line, and lines below it that are not list items. */
  readonly lines: string[];
  readonly items: SectionItem[];
  /** Cells of a table, row by row, without the rule below its header. */
  readonly rows: (readonly string[])[];
}

export interface SectionItem {
  readonly text: string;
  /** Lines below the item that belong to it. */
  readonly details: string[];
  /** The severity that the sub-heading above the item names, if any. */
  readonly severity: Severity | null;
}

export type Sections = ReadonlyMap<SectionName, MessageSection>;

/**
 * Splits the text around a signal into the sections of S2.15 and S2.16. It accepts any bullet, bold headings or
 * headings with `#`, blank lines, and text on the heading's line. A line of prose after a list ends the section.
 */
export function readSections(text: string, signal: Signal | null): Sections {
  const sections = new Map<SectionName, MessageSection>();
  const fences = watchFences();
  const here: SectionCursor = { section: null, severity: null, blank: false, indent: 0, name: null };
  for (const line of text.split("\n")) {
    if (line.trim() === "") {
      here.blank = true;
      continue;
    }
    const isMark = takeFence(fences, line);
    if (fences.outside && !isMark) takeLine(sections, here, line, signal);
    else if (!isMark) takeCode(here, line);
    here.blank = false;
  }
  return sections;
}

interface SectionCursor {
  section: MessageSection | null;
  name: SectionName | null;
  severity: Severity | null;
  blank: boolean;
  indent: number;
}

function takeLine(
  sections: Map<SectionName, MessageSection>,
  here: SectionCursor,
  line: string,
  signal: Signal | null,
): void {
  if (/^ {0,3}>/.test(line)) return;
  const heading = headingOf(line, signal, here.section !== null && here.section.items.length > 0);
  if (heading !== null) {
    const section: MessageSection = sections.get(heading.name) ?? { lines: [], items: [], rows: [] };
    sections.set(heading.name, section);
    Object.assign(here, { section, name: heading.name, severity: null });
    if (heading.rest !== "") section.lines.push(heading.rest);
    return;
  }
  if (here.section === null) return;
  const other = OTHER_HEADING.exec(line)
    ?.slice(1)
    .find((group) => group !== undefined);
  if (other !== undefined) {
    const severity = severityFromWord(
      other.replace(/\b(?:issues?|findings?|severity|priority)\b/gi, "").replace(/s\s*$/i, ""),
    );
    if (here.name === "issues" && severity !== undefined) here.severity = severity;
    else here.section = null;
    return;
  }
  takeContent(here, here.section, line);
}

function takeContent(here: SectionCursor, section: MessageSection, line: string): void {
  if (/^\s*\|/.test(line)) {
    if (!/^[\s|:-]+$/.test(line)) section.rows.push(cellsOf(line));
    return;
  }
  const bullet = BULLET.exec(line);
  const last = section.items.at(-1);
  const indent = bullet?.[1]?.length ?? 0;
  if (bullet !== null && (last === undefined || indent <= here.indent + 1)) {
    if (last === undefined) here.indent = indent;
    section.items.push({ text: line.slice(bullet[0].length).trim(), details: [], severity: here.severity });
  } else if (last !== undefined && (bullet !== null || !here.blank || /^\s{2}/.test(line))) {
    last.details.push(line.slice(bullet?.[0].length ?? 0).trim());
  } else if (here.blank && (last !== undefined || section.lines.length > 0)) here.section = null;
  else section.lines.push(line.trim());
}

/** Handles a line of code. It is output of a command, or illustrates an item. */
function takeCode(here: SectionCursor, line: string): void {
  if (here.section?.items.length === 0) here.section.lines.push(line.trimEnd());
}

function cellsOf(line: string): readonly string[] {
  const cells = line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|");
  return cells.map((cell) => cell.trim().replace(/^[`*]{1,3}|[`*]{1,3}$/g, ""));
}

function headingOf(line: string, signal: Signal | null, inList: boolean): { name: SectionName; rest: string } | null {
  const bulleted = BULLET.test(line);
  if (/^\s{4}/.test(line) || (bulleted && inList)) return null;
  const head = line.slice(0, 120);
  const colon = head.indexOf(":");
  const label = (colon < 0 ? head : head.slice(0, colon)).replace(/\(\d+\)/, "").replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  if (colon < 0 && head.length < line.length) return null;
  const words = label.toLowerCase().replace(/[\s-]+/g, " ");
  const found = NAMES.find(
    ([, only, written]) => (only === null || only === signal) && (written as readonly string[]).includes(words),
  );
  if (found === undefined || (bulleted && !isField(found[0]))) return null;
  return {
    name: found[0],
    rest:
      colon < 0
        ? ""
        : line
            .slice(colon + 1)
            .replace(/^[\s*_]+/, "")
            .trim(),
  };
}

const BULLET = /^(\s{0,40})(?:[-*•+‣–]|\d{1,4}[.)])\s+(?:\[[ xX]\] )?/;
const OTHER_HEADING = /^ {0,3}(?:#{1,6} (.{1,100})|\*\*([^*]{1,100})\*\*:?|([A-Z][\w /&-]{1,50}):)\s*$/;

/** The heading's section, the only signal it belongs to (`null`: any), and the words that people use for it. */
const NAMES = [
  ["filesReviewed", null, ["files reviewed", "reviewed files"]],
  ["filesModified", null, ["files modified", "files changed", "modified files", "changed files"]],
  ["issues", null, ["issues found", "issues", "findings"]],
  ["requiredFixes", null, ["required fixes", "required changes", "fixes required", "required actions"]],
  ["priority", null, ["priority"]],
  ["quality", null, ["quality assessment", "quality verification"]],
  ["summary", null, ["summary", "conclusion"]],
  ["verification", null, ["verification results", "requirements verification", "criteria verified"]],
  ["commands", null, ["commands executed", "commands run", "verification commands"]],
  ["failedCriteria", null, ["failed criteria"]],
  ["passingCriteria", null, ["passing criteria", "passed criteria"]],
  ["preExisting", null, ["pre existing failures", "preexisting failures", "pre existing issues"]],
  ["environments", null, ["environments tested", "environments verified"]],
  ["matrix", null, ["environment verification matrix", "environment verification"]],
  ["allEnvironments", null, ["all required environments"]],
  ["context", null, ["context", "context for the developer", "new context"]],
  ["blocker", "TASK_INCOMPLETE", ["blocker", "blocked by"]],
  ["category", "TASK_INCOMPLETE", ["category", "blocker category"]],
  ["attempted", "TASK_INCOMPLETE", ["attempted", "attempts"]],
  ["needed", "TASK_INCOMPLETE", ["needed", "suggested"]],
  ["issue", "INFRA_BLOCKED", ["issue"]],
  ["command", "INFRA_BLOCKED", ["command", "affected commands"]],
  ["output", "INFRA_BLOCKED", ["output", "evidence"]],
  ["environment", "INFRA_BLOCKED", ["environment"]],
] as const satisfies readonly (readonly [string, Signal | null, readonly string[]])[];

const FIELDS: readonly SectionName[] = [
  "priority",
  "summary",
  "blocker",
  "category",
  "attempted",
  "needed",
  "issue",
  "command",
  "output",
  "environment",
  "environments",
];

/** Whether a section is one value on one line. Some agents put a bullet before it. */
const isField = (name: SectionName): boolean => FIELDS.includes(name);

/**
 * Returns the items of the list under a heading such as `Failures:` in an agent's text; empty if there is no such list,
 * or it says that there is nothing. The last list of that name counts.
 */
export function listedItems(text: string, heading: RegExp): string[] {
  const lines = plainText(text.slice(-LONGEST)).split("\n");
  const at = lines.findLastIndex((line) => heading.test(line.trim()));
  if (at === -1) return [];
  const items: string[] = [];
  for (const line of lines.slice(at + 1)) {
    const item = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(\S.*)$/.exec(line)?.[1]?.trim();
    if (item !== undefined) items.push(item.slice(0, LONGEST_ITEM));
    else if (line.trim() !== "") break;
    if (items.length === MOST_ITEMS) break;
  }
  return items.filter((item) => !/^(?:none|nothing|-)\.?$/i.test(item));
}

const LONGEST = 64 * 1024;
const LONGEST_ITEM = 300;
const MOST_ITEMS = 20;
