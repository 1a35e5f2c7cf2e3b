/** Finds lines and columns, both counted from 1, of offsets in one text. Made in one pass, asked in log time. */
export interface LineIndex {
  at(offset: number): { readonly line: number; readonly column: number };
  /** The text of a line, without its end. */
  text(line: number): string;
}

export function lineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return {
    at(offset) {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= offset) low = middle;
        else high = middle - 1;
      }
      return { line: low + 1, column: offset - starts[low]! + 1 };
    },
    text(line) {
      const start = starts[line - 1] ?? text.length;
      const next = starts[line];
      const end = next === undefined ? text.length : next - 1;
      return text.slice(start, text[end - 1] === "\r" && next !== undefined ? end - 1 : end);
    },
  };
}
