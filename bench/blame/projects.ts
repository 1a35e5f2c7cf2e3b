/** A small project, whole: every file by its path. Its tests are run by Node alone. */
export interface Project {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}
