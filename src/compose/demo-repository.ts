import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RemandError } from "../core/events/error.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";

/** Creates a repository in a new folder, with these files committed. */
export async function demoRepository(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "remand-demo-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const identity = ["-c", "user.name=Remand demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    [...identity, "commit", "--quiet", "--message=a project with one failing story"],
  ]) {
    const ended = await runProcess({
      command: ["git", ...args],
      cwd: root,
      env: allowedEnvironment(process.env),
      timeoutMs: 30_000,
      sandbox: null,
    });
    if (ended.exitCode !== 0)
      throw new RemandError(
        "git-failed",
        `git ${args[0]} failed: ${ended.output.trim()}`,
        "Is git 2.28 or newer installed?",
      );
  }
  return root;
}
