import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

test("verify compares the journal with what the commits of attempts say of it", () => {
  const root = checkoutOf({ "answer.txt": "wrong\n" });
  const remand = (...args: readonly string[]): { status: number | null; out: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
    return { status, out: stdout + stderr };
  };
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: root, encoding: "utf8" }).trim();
  const loop = ["loop", "--goal", "say right", "--check", "grep -q right answer.txt", "--reporter", "minimal", "--"];
  const ran = remand(...loop, "sh", "-c", "echo right > answer.txt");
  expect(ran.status, ran.out).toBe(0);
  expect(remand("verify")).toMatchObject({ status: 0, out: expect.stringMatching(/^intact: \d+ lines.*; 1 receipt/) });
  // The user commits what the loop left: the receipt is about the files.
  writeFileSync(join(root, "keys"), remand("key", "show").out);
  git("commit", "--quiet", "--message=it says right", "answer.txt");
  const committed = remand("verify", "HEAD", "--require", "--all", "--keys", "keys");
  expect(committed).toMatchObject({ status: 0, out: expect.stringContaining("has the accepted files") });

  // A commit of an attempt that knows a later head than the journal has.
  const tree = git("rev-parse", "HEAD^{tree}");
  const attempt = git("for-each-ref", "--format=%(contents)", "refs/remand/loop");
  const id = /^Remand-Journal: [0-9a-f]{64} (\S+)$/m.exec(attempt)?.[1];
  const later = git("commit-tree", tree, "-m", `attempt\n\nRemand-Journal: ${"f".repeat(64)} ${id}`);
  git("update-ref", "refs/heads/remand/later", later);
  expect(remand("verify")).toMatchObject({ status: 3, out: expect.stringContaining("a commit notes the head ffff") });
});
