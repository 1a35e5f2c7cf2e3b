import type { Cell, CellRequest, Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel } from "../../core/events/isolation.ts";
import { type PathRule, checkoutAround } from "./path-rules.ts";

export interface SandboxExecOptions {
  readonly level: IsolationLevel;
  readonly rules: readonly PathRule[];
  isWithheld(name: string): boolean;
  readonly network: "shared" | "none";
}

/**
 * The sandbox of macOS. It has neither copies nor separate processes: a copy is writable only where the program may
 * write anyway, and processes that outlive the program are found as without a sandbox.
 */
export function createSandboxExec(options: SandboxExecOptions): Sandbox {
  return {
    level: { ...options.level, kind: "sandbox-exec" },
    open: (request) => Promise.resolve(openCell(options, request)),
  };
}

function openCell(options: SandboxExecOptions, request: CellRequest): Cell {
  const env = Object.fromEntries(Object.entries(request.env).filter(([name]) => !options.isWithheld(name)));
  const [first, ...rest] = ["/usr/bin/sandbox-exec", "-p", profileOf(options, request), ...request.command];
  return { env, commandLine: [first, ...rest], close: () => Promise.resolve() };
}

/** Returns the profile. Later rules override earlier ones. */
function profileOf({ rules, network }: SandboxExecOptions, { cwd, env, writes, copies }: CellRequest): string {
  const hidden = rules.filter(({ kind }) => kind === "hidden").map(({ path }) => path);
  const temporary = [env["TMPDIR"] ?? "", "/private/tmp", "/private/var/folders", "/dev"].filter((path) => path !== "");
  const open = [checkoutAround(cwd, rules), ...writes, ...copies];
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    ...rule("allow file-write*", temporary),
    ...rule("deny file-read* file-write*", hidden),
    ...rule("allow file-read* file-write*", open),
    "(deny signal)",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    ...(network === "none" ? ["(deny network*)", '(allow network* (remote ip "localhost:*"))'] : []),
  ].join("\n");
}

const rule = (what: string, paths: readonly string[]): readonly string[] =>
  paths.length === 0 ? [] : [`(${what} ${paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(" ")})`];
