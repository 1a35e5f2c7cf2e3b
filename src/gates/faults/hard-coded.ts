import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { FaultBench } from "./fault-bench.ts";
import { productRule } from "./reached-code.ts";
import { unitOf } from "./tripwire.ts";

/** So many lines of code belong together. */
const WINDOW = 4;

/**
 * Says where changed lines of the product newly hold, close together, every value of a line of a target's file that
 * names an input and an answer. It may be a coincidence: it is a note for who reads the work.
 */
export async function hardCodedNotes(
  { options, request, changed }: PinnedContext,
  bench: FaultBench,
): Promise<readonly string[]> {
  const notes: string[] = [];
  const product = changed.filter(productRule(options));
  for (const test of request.atBase.targets) {
    const { from } = unitOf(bench, test);
    const cases = from === null ? [] : casesIn(bench.text(from) ?? "");
    for (const path of product) {
      const base = (await options.workspace.fileAt(request.story.id, request.base, path)) ?? "";
      const line = lineWithAll(bench.text(path) ?? "", base, cases);
      if (line === null) continue;
      notes.push(`hard-coded answer? ${path}:${line} holds the input and the expected value of ${test}`);
      break;
    }
  }
  return [...new Set(notes)];
}

/** The values of each line that has several. */
function casesIn(text: string): readonly (readonly string[])[] {
  return text
    .split("\n")
    .filter((line) => !/^\s*(?:import|from|use|package|#include)\b/.test(line))
    .map((line) => line.replace(TITLE, ""))
    .map((line) => [...new Set(valuesIn(line))])
    .filter((values) => values.length >= LEAST_VALUES);
}

/** What a test is called is no value of it. */
const TITLE = /^\s*(?:test|it|describe)[.\w]*\(\s*(["'`]).*?\1/;
const LEAST_VALUES = 3;
const VALUE = /(["'`])[^"'`\n]{1,200}\1|(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
const valuesIn = (line: string): readonly string[] =>
  (line.match(VALUE) ?? []).map((value) => value.replace(/^["'`]|["'`]$/g, ""));

/** The line, from 1, from which on changed lines hold all values of a case; `null` where none does. */
function lineWithAll(text: string, base: string, cases: readonly (readonly string[])[]): number | null {
  const before = new Set(base.split("\n"));
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    if (before.has(lines[at]!) || valuesIn(lines[at]!).length === 0) continue;
    const near = lines.slice(at, at + WINDOW).filter((line) => !before.has(line));
    const values = new Set(near.flatMap(valuesIn));
    if (cases.some((each) => each.every((value) => values.has(value)))) return at + 1;
  }
  return null;
}
