import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Files } from "./innocent-edits.ts";

export interface TestRun {
  readonly passed: boolean;
  readonly output: string;
}

/** A folder in which a project's tests run on any of its states. */
export interface TestFolder {
  readonly root: string;
  run(files: ReadonlyMap<string, string | null>, tests: readonly string[] | null, reporter?: string): TestRun;
  diff(before: Files, now: Files): string;
  leave(): void;
}

export function makeTestFolder(): TestFolder {
  const root = mkdtempSync(join(tmpdir(), "remand-blame-"));
  const there = new Map<string, string>();
  const write = (files: ReadonlyMap<string, string | null>): void => {
    for (const path of Array.from(there.keys())) if ((files.get(path) ?? null) === null) drop(path);
    for (const [path, text] of files) {
      if (text === null || there.get(path) === text) continue;
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      there.set(path, text);
    }
  };
  const drop = (path: string): void => {
    rmSync(join(root, path), { force: true });
    there.delete(path);
  };
  return {
    root,
    run(files, tests, reporter = "spec") {
      write(files);
      const all = [...there.keys()].filter((path) => path.endsWith(".test.js"));
      const chosen = (tests ?? all).filter((path) => there.has(path));
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["--test", `--test-reporter=${reporter}`, ...chosen],
        {
          cwd: root,
          encoding: "utf8",
          timeout: 20_000,
          // Every run gets the same environment, without the variables of a test runner that started this benchmark.
          env: { PATH: process.env["PATH"] ?? "", NO_COLOR: "1", TZ: "UTC" },
        },
      );
      return { passed: status === 0 && chosen.length > 0, output: stdout + stderr };
    },
    diff(before, now) {
      const git = (...args: string[]): string => {
        const { status, stdout, stderr } = spawnSync(
          "git",
          ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "core.autocrlf=false", ...args],
          { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 },
        );
        if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
        return stdout;
      };
      write(before);
      git("init", "-q");
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", "base");
      write(now);
      git("add", "-A");
      const text = git("diff", "--cached", "--no-color", "--no-ext-diff", "-M");
      rmSync(join(root, ".git"), { recursive: true, force: true });
      return text;
    },
    leave: () => rmSync(root, { recursive: true, force: true }),
  };
}
