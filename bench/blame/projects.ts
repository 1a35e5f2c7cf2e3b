/** A small, complete project: every file by its path. Node alone runs its tests. */
export interface Project {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}
