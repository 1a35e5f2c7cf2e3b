import { join } from "node:path";

/** The paths of Remand's own files in a checkout. */
export interface StateFolder {
  readonly path: string;
  readonly journal: string;
  readonly evidence: string;
  /** Plain copies of evidence, which agents can read in their sandbox. */
  readonly logs: string;
  /** The run folders of agents that outlive an engine. */
  readonly runs: string;
  /** The live output of stories in progress. */
  readonly output: string;
}

export function stateFolder(root: string): StateFolder {
  const path = join(root, ".remand");
  return {
    path,
    journal: join(path, "journal.db"),
    evidence: join(path, "evidence"),
    logs: join(path, "logs"),
    runs: join(path, "runs"),
    output: join(path, "output"),
  };
}
