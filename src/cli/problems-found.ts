import { type Problem, RemandError } from "../core/events/error.ts";

/** A file of a person has errors, which were printed with their places. `--json` gets them as a document. */
export class ProblemsFound extends RemandError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const first = problems.find(({ severity }) => severity === "error");
    const where = first === undefined ? "" : `${first.file}:${first.line}:${first.column}: `;
    super("input-invalid", `${where}${first?.message ?? "a file cannot be read"}`, first?.hint ?? "Fix the file.");
    this.problems = problems;
  }
}
