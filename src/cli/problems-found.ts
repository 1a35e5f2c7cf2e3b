import { type Problem, RemandError } from "../core/events/error.ts";

/** Errors in the user's files, which were already printed with their locations. `--json` prints them as a document. */
export class ProblemsFound extends RemandError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const first = problems.find(({ severity }) => severity === "error");
    const where = first === undefined ? "" : `${first.file}:${first.line}:${first.column}: `;
    super("input-invalid", `${where}${first?.message ?? "a file cannot be read"}`, first?.hint ?? "Fix the file.");
    this.problems = problems;
  }
}
