import { basename, dirname } from "node:path";
import type { GateRequest } from "../../ports/gate.ts";
import type { ProcessResult } from "../process/run-process.ts";

/** How files are named in what a person or an agent reads: as in the author's folder, never as in a clean checkout. */
export interface ShownPaths {
  /** The folder that paths are told from. */
  readonly root: string;
  text(text: string): string;
  ended(ended: ProcessResult): ProcessResult;
}

export function shownPaths({ path, workedIn }: Pick<GateRequest, "path" | "workedIn">): ShownPaths {
  if (workedIn === undefined) return { root: path, text: (text) => text, ended: (ended) => ended };
  let [from, to] = [path, workedIn];
  // The project may be a folder of the repository: then files beside it are named too.
  while (basename(from) === basename(to) && basename(from) !== "") [from, to] = [dirname(from), dirname(to)];
  const text = (printed: string): string => printed.replaceAll(from, to);
  return {
    root: workedIn,
    text,
    ended: (ended) => ({
      ...ended,
      output: text(ended.output),
      stdout: text(ended.stdout),
      stderr: text(ended.stderr),
    }),
  };
}
