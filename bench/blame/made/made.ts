import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** One commit: new files, and replaced texts. */
export interface MadeCommit {
  readonly subject: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly edits?: readonly (readonly [file: string, from: string, to: string])[];
}

/** A small project with a history, written for this benchmark. */
export interface MadeRepository {
  readonly name: string;
  readonly command: string;
  /** Whether it needs the packages that are installed here. */
  readonly borrows: boolean;
  readonly commits: readonly MadeCommit[];
}

/** Writes a project as a git repository; `leave` deletes it. */
export function layOut({ name, borrows, commits }: MadeRepository): { readonly path: string; leave(): void } {
  const place = mkdtempSync(join(tmpdir(), "remand-made-"));
  const path = join(place, name);
  mkdirSync(path);
  const git = (...args: string[]): void => {
    const own = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "core.autocrlf=false"];
    execFileSync("git", [...own, ...args], { cwd: path, stdio: "pipe" });
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const { subject, files = {}, edits = [] } of commits) {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    }
    for (const [file, from, to] of edits) {
      const text = readFileSync(join(path, file), "utf8");
      if (!text.includes(from)) throw new Error(`${name}, "${subject}": ${file} holds no such text: ${from}`);
      writeFileSync(
        join(path, file),
        text.replace(from, () => to),
      );
    }
    git("add", "--all");
    git("commit", "--quiet", "--message", subject);
  }
  if (borrows) {
    const installed = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
    if (!existsSync(installed)) throw new Error(`there is no ${installed}`);
    mkdirSync(join(path, "node_modules"));
    for (const each of ["vitest", "vite"]) symlinkSync(join(installed, each), join(path, "node_modules", each));
    mkdirSync(join(path, "node_modules", ".bin"));
    symlinkSync(join(installed, ".bin", "vitest"), join(path, "node_modules", ".bin", "vitest"));
  }
  return { path, leave: () => rmSync(place, { recursive: true, force: true }) };
}
