import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { removeInBackground } from "../../../src/adapters/git/remove-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-remove-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function make(...names: readonly string[]): string {
  const path = join(folder, ...names);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "file"), "");
  return path;
}

test("a folder is removed, with folders that an earlier process left", async () => {
  const [path, gone] = [make("worktree", "src"), join(folder, "gone")];
  make("gone", "1-left", "src");
  chmodSync(path, 0o500);
  await removeInBackground(join(folder, "worktree"), gone);
  expect(existsSync(join(folder, "worktree"))).toBe(false);
  await expect.poll(() => readdirSync(gone), { timeout: 60_000 }).toEqual([]);
});

test("a missing folder is no error", async () => {
  await removeInBackground(join(folder, "none"), join(folder, "gone"));
  expect(readdirSync(folder)).toEqual(["gone"]);
});
