import { join } from "node:path";

/** Where Remand keeps its own things in a checkout. */
export interface StateFolder {
  readonly path: string;
  readonly journal: string;
  readonly evidence: string;
  /** Plain copies of evidence, which agents can read in their sandbox. */
  readonly logs: string;
  /** The agents' programs that outlive an engine. */
  readonly runs: string;
  /** What is printed while stories are worked on. */
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
