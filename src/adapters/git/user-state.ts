import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The folder in which Remand keeps what belongs to a person and to no checkout. */
export function userStateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const named = env["XDG_STATE_HOME"] ?? "";
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  return join(isAbsolute(named) ? named : join(home, ".local", "state"), "remand");
}
