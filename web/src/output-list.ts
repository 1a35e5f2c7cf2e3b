import type { OutputLine } from "../../src/core/events/output-line.ts";
import { ansiParts, shownText } from "./ansi.ts";
import { clockTime } from "./time.ts";

/** Selects the lines that are shown. */
export interface OutputFilter {
  /** A single step such as `attempt 2`; empty: all steps. */
  readonly step: string;
  readonly query: string;
}

/**
 * Appends lines to an element and removes the oldest: new lines cost the same however many are there. Text is only ever
 * set as text.
 */
export interface OutputList {
  add(lines: readonly OutputLine[]): void;
  /** Shows all lines again with another filter. Returns how many match. */
  show(filter: OutputFilter): number;
  /** The number of stored lines, and of those that match. */
  counts(): { readonly all: number; readonly matching: number };
}

interface FrameWork {
  write(): void;
  scroll(): void;
}

const waiting = new Set<FrameWork>();

/**
 * Runs work in the next frame: first all lists write, then all lists scroll. Twenty lists cost one layout, and a flood
 * of lines costs one write per frame.
 */
export function inNextFrame(work: FrameWork): void {
  waiting.add(work);
  if (waiting.size > 1) return;
  requestAnimationFrame(() => {
    const all = [...waiting];
    waiting.clear();
    for (const { write } of all) write();
    for (const { scroll } of all) scroll();
  });
}

/** Consecutive tool calls are shown as one line that expands. */
const TOOL = /^(?:→ |tool: )/;

export function createOutputList(element: HTMLElement, mostKept: number, mostShown: number): OutputList {
  let kept: OutputLine[] = [];
  let filter: OutputFilter = { step: "", query: "" };
  let matching = 0;
  let step: string | null = null;
  let tools: ToolGroup | null = null;

  const matches = (line: OutputLine): boolean =>
    (filter.step === "" || line.step === filter.step) &&
    (filter.query === "" || shownText(line.text).toLowerCase().includes(filter.query));
  const write = (lines: readonly OutputLine[]): void => {
    const fresh = document.createDocumentFragment();
    for (const line of lines) {
      if (line.step !== step) {
        step = line.step;
        tools = null;
        fresh.append(stepElement(line));
      }
      if (!TOOL.test(line.text) || filter.query !== "") {
        tools = null;
        fresh.append(lineElement(line.text, filter.query));
        continue;
      }
      if (tools === null) {
        tools = createToolGroup();
        fresh.append(tools.element);
      }
      tools.add(line.text);
    }
    element.append(fresh);
    while (element.childElementCount > mostShown) element.firstElementChild?.remove();
  };
  return {
    add: (lines) => {
      kept = kept.length + lines.length > mostKept * 1.5 ? [...kept, ...lines].slice(-mostKept) : kept.concat(lines);
      const shown = lines.filter(matches);
      matching += shown.length;
      write(shown.slice(-mostShown));
    },
    show: (next) => {
      filter = { ...next, query: next.query.trim().toLowerCase() };
      const shown = kept.filter(matches);
      matching = shown.length;
      step = null;
      tools = null;
      element.replaceChildren();
      write(shown.slice(-mostShown));
      return matching;
    },
    counts: () => ({ all: kept.length, matching }),
  };
}

function stepElement({ step, at }: OutputLine): HTMLElement {
  const heading = document.createElement("p");
  heading.className = "output-step";
  heading.textContent = `${step === "" ? "engine" : step} · ${clockTime(at)}`;
  return heading;
}

function lineElement(text: string, query: string): HTMLElement {
  const line = document.createElement("div");
  line.className = "output-line";
  for (const part of ansiParts(text)) {
    const parent = part.style === "" ? line : document.createElement("span");
    if (parent !== line) {
      parent.className = part.style;
      line.append(parent);
    }
    appendMarked(parent, part.text, query);
  }
  // An empty line must have a height, too.
  if (line.childNodes.length === 0) line.textContent = "\u00a0";
  return line;
}

function appendMarked(parent: HTMLElement, text: string, query: string): void {
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = query === "" ? -1 : lower.indexOf(query); at >= 0; at = lower.indexOf(query, from)) {
    parent.append(text.slice(from, at));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + query.length);
    parent.append(mark);
    from = at + query.length;
  }
  parent.append(text.slice(from));
}

interface ToolGroup {
  readonly element: HTMLElement;
  add(text: string): void;
}

/** Shows the newest call and the number of calls; expands to all of them. */
function createToolGroup(): ToolGroup {
  const element = document.createElement("details");
  element.className = "output-tools";
  const summary = document.createElement("summary");
  element.append(summary);
  let count = 0;
  return {
    element,
    add: (text) => {
      count++;
      element.append(lineElement(text, ""));
      summary.textContent = count === 1 ? shownText(text) : `${count} tool calls, the last ${shownText(text)}`;
    },
  };
}
