import type { Suspect } from "../domain/blame.ts";

/** Whose work a suspected change is, as far as that is known: `attempt 2 by developer in implement`. */
export function whoseText({ attempt, role, phase }: Suspect): string {
  if (attempt === undefined) return "";
  return `attempt ${attempt}${role === undefined ? "" : ` by ${role}`}${phase === undefined ? "" : ` in ${phase}`}`;
}
