import type { ChangedLine } from "../../../src/views/story/diff-range.ts";

/** A diff with full context: the longest common part is kept, as in git. */
export function changedLines(from: readonly string[], to: readonly string[]): ChangedLine[] {
  const common = from.map(() => to.map(() => 0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = from.length - 1; i >= 0; i--)
    for (let j = to.length - 1; j >= 0; j--)
      common[i]![j] = from[i] === to[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: ChangedLine[] = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      i++;
      lines.push({ kind: "same", text: to[j++]!, line: j });
    } else if (j >= to.length || (i < from.length && at(i + 1, j) >= at(i, j + 1)))
      lines.push({ kind: "removed", text: from[i++]!, line: i });
    else lines.push({ kind: "added", text: to[j++]!, line: j });
  }
  return lines;
}
