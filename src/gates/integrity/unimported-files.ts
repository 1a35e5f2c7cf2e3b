import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "../../core/gates/finding.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/**
 * What an agent left at a changed path and no commit can hold: a repository of its own, of which git keeps a number, a
 * pipe, a socket or a device, which git takes for a deleted file. `submodules` reads `.gitmodules`.
 */
export async function unimportedFiles(
  top: string,
  changed: readonly string[],
  submodules: () => Promise<string | null>,
  book: RuleReporter,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const path of changed) {
    const what = await lstat(join(top, path)).catch(() => null);
    if (what === null || what.isFile() || what.isSymbolicLink()) continue;
    if (!what.isDirectory()) {
      const kind = what.isFIFO() ? "a named pipe" : what.isSocket() ? "a socket" : "a device";
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: `this is ${kind}, which git cannot keep`,
          suggestedFix: `Remove ${path}, and write a regular file if one is needed there.`,
        }),
      );
    } else if (existsSync(join(top, path, ".git")) && !pathsIn((await submodules()) ?? "").includes(path))
      findings.push(
        ...book.report("not-looked-at", {
          file: path,
          message: "this is a git repository of its own: its files are not in the work",
          suggestedFix: `Remove ${path}/.git, so that its files are kept with the rest, or make ${path} a submodule.`,
        }),
      );
  }
  return findings;
}

const pathsIn = (submodules: string): readonly string[] =>
  [...submodules.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm)].map(([, path]) => path!);
