import { allowedEnvironment } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";

/**
 * Heads of the journal that commits of attempts carry in their trailers. A chain alone cannot show that its end was
 * cut off; a commit that knows a later head can.
 */
export async function notedHeads(root: string): Promise<readonly string[]> {
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
  if (exitCode !== 0) return [];
  return [...new Set(stdout.split(/\s+/).filter((word) => /^[0-9a-f]{64}$/.test(word)))];
}
