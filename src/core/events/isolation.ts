/** What makes a sandbox. */
export type SandboxKind = "bubblewrap" | "container" | "sandbox-exec" | "none";

/** What was tried on this machine, and held. */
export type Protection = "files" | "processes" | "network";

export interface IsolationLevel {
  readonly kind: SandboxKind;
  readonly held: readonly Protection[];
  /** What the user let through: a socket, a folder, variables. */
  readonly allowed: readonly string[];
}

/** `bubblewrap (files, processes)`, as it is shown and kept. */
export function levelText({ kind, held, allowed }: IsolationLevel): string {
  if (kind === "none") return "none";
  const passed = allowed.length === 0 ? "" : `; allowed: ${allowed.join(", ")}`;
  return `${kind} (${held.join(", ")}${passed})`;
}
