import { spawnSync } from "node:child_process";

/** Why this machine has no sandbox; `null`: it has one. Continuous integration must have one. */
export function missingSandbox(): string | null {
  if (process.platform !== "linux") return "the tests of the sandbox need Linux";
  const { status, error } = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]);
  if (error !== undefined) return "bubblewrap is not installed: apt install bubblewrap";
  return status === 0 ? null : "bubblewrap cannot make namespaces here";
}
