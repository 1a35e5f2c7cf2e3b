import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownEnvironment } from "../../src/adapters/git/repository.ts";
import type { Environment } from "../../src/adapters/process/environment.ts";

export type Files = Readonly<Record<string, string>>;

/** A repository with one commit, in its own folder, with its own state folder. */
export interface Project {
  readonly root: string;
  readonly env: Environment;
  readonly userState: string;
  /** Writes files and commits them. */
  commit(files: Files): void;
  clear(): void;
}

export function makeProject(files: Files): Project {
  mkdirSync(join(process.cwd(), ".build"), { recursive: true });
  const home = mkdtempSync(join(process.cwd(), ".build", "bench-verify-"));
  const root = join(home, "project");
  mkdirSync(root);
  const env = {
    ...ownEnvironment(),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Bench",
    GIT_AUTHOR_EMAIL: "bench@localhost",
    GIT_COMMITTER_NAME: "Bench",
    GIT_COMMITTER_EMAIL: "bench@localhost",
  };
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
  const commit = (changed: Files): void => {
    writeFiles(root, changed);
    git("add", "--all");
    git("commit", "--quiet", "--message", "files");
  };
  git("init", "--quiet");
  commit(files);
  const clear = (): void => rmSync(home, { recursive: true, force: true });
  return { root, env, userState: join(home, "state"), commit, clear };
}

export function writeFiles(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
