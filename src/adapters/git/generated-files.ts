import { existsSync } from "node:fs";
import { cp, open, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Git } from "./git.ts";
import { hasPython } from "./python-places.ts";

/**
 * An installation in the checkout leaves files among a Python project's own that git ignores: its version, its name
 * and entry points, code made of a schema, compiled parts. Without them the package cannot be imported in a worktree,
 * whatever the work is. What a person wrote, and git ignores, stays where it is: it may be a secret.
 */
export async function bringGenerated(
  git: Git,
  main: string,
  worktree: string,
  onNotice: (text: string) => void,
): Promise<void> {
  if (!(await hasPython({ git, top: main }))) return;
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const ignored = (await git.run(args, { cwd: main })).split("\0");
  const compiled: string[] = [];
  for (const path of ignored) {
    if (!/\.(?:pyi?|so|pyd|egg-info\/)$/.test(path) || existsSync(join(worktree, path))) continue;
    const isCompiled = /\.(?:so|pyd)$/.test(path);
    if (!isCompiled && !(await isGenerated(join(main, path)))) continue;
    // Beside files of the work only: what lies in a folder of its own is somebody else's.
    if (!existsSync(join(worktree, dirname(path)))) continue;
    await cp(join(main, path), join(worktree, path), { recursive: true });
    if (isCompiled) compiled.push(path);
  }
  if (compiled.length > 0)
    onNotice(
      `${compiled[0]} was compiled in ${main} and is copied from there: if stories change what it is made of, let the checks build it first`,
    );
}

/**
 * Go looks for its workspace in the folders above too, and would find the checkout's, in which the worktree's modules
 * are none. One that git ignores is brought along, about the same modules of the worktree.
 */
export async function bringGoWorkspace(git: Git, main: string, worktree: string): Promise<void> {
  for (const name of ["go.work", "go.work.sum"]) {
    const text = await readFile(join(main, name), "utf8").catch(() => null);
    if (text === null || existsSync(join(worktree, name))) continue;
    if ((await git.ask(["check-ignore", "--quiet", "--", name], { cwd: main })).exitCode !== 0) continue;
    // A folder whose name only begins like the checkout's is another one.
    const moved = text.split(/(?<=["\s])|(?=["\s])/).map((word) => {
      const isOurs = word === main || word.startsWith(`${main}/`);
      return isOurs ? `${worktree}${word.slice(main.length)}` : word;
    });
    await writeFile(join(worktree, name), moved.join(""));
  }
}

async function isGenerated(file: string): Promise<boolean> {
  if (file.endsWith(".egg-info/") || /^_{0,2}version_{0,2}\.py$/.test(basename(file))) return true;
  const opened = await open(file);
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(1000), 0, 1000, 0);
    return /generated|do(?: not|n't) (?:edit|change|modify)/i.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await opened.close();
  }
}
