import { spawnSync } from "node:child_process";

/**
 * Programs of tests run in a sandbox where there is one. `off` is for tests whose agents or checks count or wait by
 * files outside of the project, which a sandbox keeps from them.
 */
export const sandboxMode = (): "auto" | "off" => (missingSandbox() === null ? "auto" : "off");

let known: string | null | undefined;

/** Why this machine has no sandbox; `null`: it has one. Continuous integration must have one. */
export function missingSandbox(): string | null {
  return known === undefined ? (known = tryBubblewrap()) : known;
}

function tryBubblewrap(): string | null {
  if (process.platform !== "linux") return "the tests of the sandbox need Linux";
  const { status, error } = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]);
  if (error !== undefined) return "bubblewrap is not installed: apt install bubblewrap";
  return status === 0 ? null : "bubblewrap cannot make namespaces here";
}
