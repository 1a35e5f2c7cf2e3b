import { plainText } from "../../stdx/plain-text.ts";
import { type DataResult, readJson, readShortYaml } from "../data/data-text.ts";
import { findJsonBlocks, takeFence, watchFences } from "./fences.ts";
import { type VerdictValue, readVerdictValue } from "./verdict-value.ts";

/** A verdict found in a text as JSON or YAML. */
export interface FoundVerdict extends VerdictValue {
  /** Whether only white space and the end of its fence follow. */
  readonly isLast: boolean;
  /** Whether its end is missing, so that its last fields are unknown. */
  readonly cut: boolean;
}

export interface FoundVerdicts {
  readonly verdicts: readonly FoundVerdict[];
  /** Blocks that look like verdicts and could not be read: each may contradict the others. */
  readonly unread: readonly string[];
}

/** Finds verdicts in the last part of a text, which is all of a short one. */
export function findVerdicts(text: string): FoundVerdicts {
  const skipped = Math.max(0, text.length - LONGEST_SEARCHED);
  const tail = plainText(skipped === 0 ? text : text.slice(skipped));
  const unread: string[] = [];
  const verdicts: FoundVerdict[] = [];
  const blocks = [...jsonBlocks(tail), ...yamlBlocks(tail)].sort((a, b) => a.start - b.start);
  if (blocks.length > MOST_BLOCKS)
    unread.push(`Only the last ${MOST_BLOCKS} blocks that look like verdicts were read.`);
  for (const { end, open, read } of blocks.slice(-MOST_BLOCKS)) {
    const data = read();
    if (!data.ok) unread.push(`What looks like a verdict ${data.problem}.`);
    const value = data.ok ? readVerdictValue(data.value) : null;
    if (data.ok && data.cut && value === null) unread.push("What looks like a verdict has no end.");
    if (data.ok && value !== null) {
      verdicts.push({ ...value, isLast: AFTER_LAST.test(tail.slice(end)), cut: open || data.cut });
    }
  }
  const isHidden = (key: string): boolean => text.slice(0, skipped).includes(key);
  if (skipped > 0 && SOME_KEYS.some(isHidden)) {
    unread.push(
      `The first ${skipped} characters may hold another verdict; only the last ${LONGEST_SEARCHED} were searched.`,
    );
  }
  return { verdicts, unread };
}

const LONGEST_SEARCHED = 1024 * 1024;
const MOST_BLOCKS = 200;
const AFTER_LAST = /^\s*(?:(?:`{3,}|~{3,})\s*)?$/;
const KEYS = "passed|approved|converged|verdict|decision|signal|result|overall|gate_verdict|status|stages";
const JSON_KEY = new RegExp(`["'“](?:${KEYS})["'”]|\\b(?:${KEYS})\\b\\s{0,99}:`);
const YAML_KEY = new RegExp(`^(?:${KEYS}):`, "m");
const SOME_KEYS = ['"passed"', '"verdict"', '"decision"', '"approved"', '"converged"'];

interface VerdictBlock {
  readonly start: number;
  readonly end: number;
  readonly open: boolean;
  read(): DataResult;
}

function jsonBlocks(text: string): readonly VerdictBlock[] {
  return findJsonBlocks(text, (block) => JSON_KEY.test(block), MOST_BLOCKS + 1).map(
    ({ text: json, start, end, open }) => ({ start, end, open, read: () => readJson(json) }),
  );
}

/**
 * Returns fences with YAML in them, or the whole text if it begins like YAML and has a verdict's key at a line's start.
 */
function yamlBlocks(text: string): readonly VerdictBlock[] {
  if (!YAML_KEY.test(text)) return [];
  const whole = text.trim();
  const blocks = fencedBlocks(text).filter(({ content }) => YAML_KEY.test(content) && !/^\s*[{[]/.test(content));
  if (blocks.length === 0 && /^(?:---\n|[A-Za-z_][\w-]{0,40}:(?: |\n))/.test(whole)) {
    blocks.push({ start: 0, end: text.length, content: whole });
  }
  return blocks
    .slice(-MOST_YAML)
    .map(({ start, end, content }) => ({ start, end, open: false, read: () => readShortYaml(content) }));
}

/** Parsing hostile YAML is slow, so only the last few blocks are parsed. */
const MOST_YAML = 3;

interface Fenced {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

/** Returns the contents of the fences in order; an unclosed fence ends with the text. */
function fencedBlocks(text: string): Fenced[] {
  const blocks: Fenced[] = [];
  const fences = watchFences();
  let opened: number | null = null;
  for (let at = 0; at < text.length;) {
    const line = text.indexOf("\n", at);
    const next = line < 0 ? text.length : line + 1;
    if (takeFence(fences, text.slice(at, line < 0 ? next : line))) {
      if (opened !== null) blocks.push({ start: opened, end: next, content: text.slice(opened, at) });
      opened = fences.outside ? null : next;
    }
    at = next;
  }
  if (opened !== null) blocks.push({ start: opened, end: text.length, content: text.slice(opened) });
  return blocks;
}
