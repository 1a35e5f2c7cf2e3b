import type { AgentResult } from "../../ports/agent.ts";

/** What an agent prints during one call, for the evidence; of very much, the end. */
export interface Transcript {
  add(line: string): void;
  /** The result together with what was printed on the way to it. */
  of(result: AgentResult): PrintedResult;
}

export interface PrintedResult extends AgentResult {
  readonly printed: string;
}

const MOST_CHARS = 1_000_000;

export function createTranscript(): Transcript {
  let lines: string[] = [];
  let chars = 0;
  let leftOut = 0;
  /** Halves at once: taking one line from the front for each that comes would move all of them. */
  const cut = (): void => {
    const half = Math.ceil(lines.length / 2);
    leftOut += half;
    lines = lines.slice(half);
    chars = lines.reduce((sum, { length }) => sum + length + 1, 0);
  };
  return {
    add: (line) => {
      lines.push(line);
      chars += line.length + 1;
      if (chars > MOST_CHARS) cut();
    },
    of: (result) => {
      const start = leftOut === 0 ? [] : [`(${leftOut} earlier lines left out)`];
      return { ...result, printed: [...start, ...lines].join("\n") };
    },
  };
}
