import type { JournalIdentity } from "../adapters/journal/sqlite-identity.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";

/**
 * Heads of the journal that commits of attempts carry in their trailers. A chain alone cannot show that its end was
 * cut off; a commit that knows a later head can. Commits name the journal's id since there are ids: those of another
 * journal say nothing about this one.
 */
export async function notedHeads(root: string, journal: JournalIdentity | null): Promise<Set<string>> {
  const { exitCode, stdout } = await runProcess({
    command: [
      "git",
      "for-each-ref",
      "--format=%(trailers:key=Remand-Journal,valueonly)",
      "refs/heads/remand",
      "refs/remand",
    ],
    cwd: root,
    env: allowedEnvironment(process.env),
    timeoutMs: 30_000,
  });
  // Without git there are no commits to have noted anything.
  if (exitCode !== 0) return new Set();
  const binds = (id: string | undefined): boolean =>
    journal === null || (id === undefined ? journal.since > 0 : id === journal.id);
  const heads = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  return new Set(heads.flatMap(([hash = "", id]) => (/^[0-9a-f]{64}$/.test(hash) && binds(id) ? [hash] : [])));
}
