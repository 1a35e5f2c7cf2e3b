import type { Criterion } from "../../core/stories/story.ts";
import { markdownLines, type MarkdownLine } from "../../stdx/text-lines.ts";

/** The acceptance criteria in a story's body. `heading` is the line of their heading, 0 if there is none. */
export interface ReadCriteria {
  readonly criteria: readonly Criterion[];
  readonly heading: number;
  readonly tooMany: boolean;
}

const LIMITS = { criteria: 1000, depth: 6 };

/**
 * Reads the list under the heading "Acceptance Criteria": check boxes, bullets or numbers, also nested. Ids count the
 * items (`AC1`, `AC2`, `AC2.1`), so they stay the same when the wording changes. Lists under other headings and in code
 * are not criteria.
 */
export function readCriteria(text: string, bodyStart: number): ReadCriteria {
  let sectionLevel = 0;
  let heading = 0;
  const items = itemList();
  for (const line of markdownLines(text, bodyStart)) {
    const level = headingLevel(line);
    if (level > 0 && isCriteriaHeading(line)) {
      sectionLevel = level;
      heading ||= line.number;
    } else if (level > 0 && level <= sectionLevel) {
      if (items.size() > 0) break;
      sectionLevel = 0;
    } else if (level > 0) items.interrupt();
    else if (sectionLevel > 0) items.add(line);
    if (items.size() > LIMITS.criteria) break;
  }
  const criteria = items.criteria();
  return { criteria: criteria.slice(0, LIMITS.criteria), heading, tooMany: criteria.length > LIMITS.criteria };
}

/** The level of a bold line, which many stories use as a heading: below all others. */
const BOLD_LEVEL = 7;
const BOLD_LINE = /^(?:\*\*|__)([^*_]+)(?:\*\*|__):?\s*$/;

function headingLevel(line: MarkdownLine): number {
  if (line.kind === "heading") return line.level;
  const mayBeBold = line.kind === "text" && (line.text.startsWith("**") || line.text.startsWith("__"));
  return mayBeBold && BOLD_LINE.test(line.text) ? BOLD_LEVEL : 0;
}

function isCriteriaHeading(line: MarkdownLine): boolean {
  const title = line.kind === "heading" ? line.title : (BOLD_LINE.exec(line.text)?.[1] ?? "");
  const bare = title.replaceAll(/[*_:]/g, "").trim().toLowerCase();
  return bare === "acceptance criteria" || bare === "acceptance criterion";
}

interface OpenItem {
  readonly indent: number;
  readonly id: string;
  children: number;
}

/** Collects list items. `open` holds the items that a deeper item would belong to, the deepest last. */
function itemList() {
  const found: { readonly id: string; readonly parts: string[] }[] = [];
  const open: OpenItem[] = [];
  let top = 0;
  let mayContinue = false;

  function start(indent: number, text: string): void {
    while (open.length > 0 && (open.at(-1)!.indent >= indent || open.length >= LIMITS.depth)) open.pop();
    const parent = open.at(-1);
    const id = parent === undefined ? `AC${++top}` : `${parent.id}.${++parent.children}`;
    open.push({ indent, id, children: 0 });
    found.push({ id, parts: [text] });
    mayContinue = true;
  }

  return {
    size: () => found.length,
    criteria: (): Criterion[] =>
      found.map(({ id, parts }) => ({ id, text: parts.join(" ").trim() })).filter((c) => c.text !== ""),
    /** Marks something that is not part of the list: the next line does not continue the last item. */
    interrupt(): void {
      mayContinue = false;
    },
    add(line: MarkdownLine): void {
      const isBreak = line.kind !== "text" || line.text.trim() === "" || RULE.test(line.text);
      const item = isBreak ? null : ITEM.exec(line.text);
      if (item !== null) return start(columns(item[1]!), item[3] ?? "");
      if (isBreak) mayContinue = false;
      // A line directly below an item, or indented under it, continues it.
      else if (found.length > 0 && (mayContinue || /^\s/.test(line.text))) found.at(-1)!.parts.push(line.text.trim());
    },
  };
}

/** `---` and similar lines are rules, not items. */
const RULE = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;

const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]?\](?:[ \t]+|$))?(.*)$/;

function columns(indent: string): number {
  let width = 0;
  for (const char of indent) width = char === "\t" ? width - (width % 4) + 4 : width + 1;
  return width;
}
