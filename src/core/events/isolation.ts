/** The program that makes a sandbox. */
export type SandboxKind = "bubblewrap" | "container" | "sandbox-exec" | "none";

/** A protection that was tested on this machine and worked. */
export type Protection = "files" | "processes" | "network";

export interface IsolationLevel {
  readonly kind: SandboxKind;
  readonly held: readonly Protection[];
  /** What the user allowed: a socket, a folder, variables. */
  readonly allowed: readonly string[];
}

/** Formats a level as it is shown and stored: `bubblewrap (files, processes)`. */
export function levelText({ kind, held, allowed }: IsolationLevel): string {
  if (kind === "none") return "none";
  const passed = allowed.length === 0 ? "" : `; allowed: ${allowed.join(", ")}`;
  return `${kind} (${held.join(", ")}${passed})`;
}
