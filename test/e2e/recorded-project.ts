import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileMarkOf } from "../../src/adapters/journal/sqlite.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { rightAnswer } from "./right-answer.ts";

export const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export function remand(root: string, ...args: string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

export const run = (root: string, ...more: string[]): Ran => remand(root, "run", "--reporter", "minimal", ...more);

export const loop = (root: string, ...more: string[]): Ran =>
  remand(
    root,
    "loop",
    "--goal",
    "be right",
    "--check",
    "true",
    "--force",
    "--reporter",
    "minimal",
    ...more,
    "--",
    "true",
  );

export const storyText = (title: string): string =>
  `---\ntitle: ${title}\ntarget: "*"\n---\n\nWrite the right answer.\n`;

const CONFIG = 'gates:\n  checks:\n    commands: ["grep -q right answer.txt"]\n';

/** A repository whose one story was accepted. */
export function acceptedProject(): TestRepository {
  const repository = makeRepository(rightAnswer({ stories: 1, attemptMs: 5, config: CONFIG }));
  accept(repository.root);
  return repository;
}

/** The same after a second run, and in `older` what its state folder held before that. */
export function recordedProject(): TestRepository {
  const repository = acceptedProject();
  cpSync(join(repository.root, ".remand"), join(repository.home, "older"), { recursive: true });
  repository.write("stories/second.md", storyText("second"));
  accept(repository.root);
  return repository;
}

function accept(root: string): void {
  const { status, err } = run(root);
  if (status !== 0) throw new Error(`ended with ${status}: ${err}`);
}

let copies = 0;

/** A copy of it with one more story, so that a run that is let through has something to do. */
export function copyOf({ home, root }: TestRepository): string {
  const copy = join(home, `copy-${copies++}`);
  cpSync(root, copy, { recursive: true });
  writeFileSync(join(copy, "stories/later.md"), storyText("later"));
  recordFile(copy);
  return copy;
}

export const anchorIn = (root: string): string => join(root, ".git/remand/journal.json");
export const journalIn = (root: string): string => join(root, ".remand/journal.db");

/** As if the file had been made here: a copy is another file. */
export function recordFile(root: string): void {
  const known = JSON.parse(readFileSync(anchorIn(root), "utf8")) as object;
  writeFileSync(anchorIn(root), JSON.stringify({ ...known, file: fileMarkOf(journalIn(root)) }));
}
