import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const roots: string[] = [];
afterEach(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));

function remand(root: string, ...args: string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
  return { status, out: stdout + stderr };
}

test(
  "stop --now, from another process, ends what runs; the loop goes on later where it was",
  { timeout: 60_000 },
  async () => {
    const root = mkdtempSync(join(tmpdir(), "remand-stop-"));
    roots.push(root);
    writeFileSync(join(root, "answer.txt"), "wrong\n");
    writeFileSync(join(root, ".gitignore"), "started\n");
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
        cwd: root,
        stdio: "pipe",
      });
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "--message=start");

    const loop = ["loop", "--goal", "say right", "--check", "grep -q right answer.txt", "--reporter", "minimal", "--"];
    const slow = [MAIN, ...loop, "sh", "-c", "touch started; sleep 40"];
    const child = spawn(process.execPath, slow, { cwd: root, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    while (!remand(root, "log").out.includes("attempt.started")) await sleep(100);

    const beganAt = Date.now();
    expect(remand(root, "stop", "--now").out).toContain("ended: loop-");
    await ended;
    expect(Date.now() - beganAt).toBeLessThan(20_000);
    expect(remand(root, "status").out).toContain("waiting");

    const again = remand(root, ...loop, "sh", "-c", "echo right > answer.txt");
    expect(again.status, again.out).toBe(0);
    expect(readFileSync(join(root, "answer.txt"), "utf8")).toBe("right\n");
  },
);
