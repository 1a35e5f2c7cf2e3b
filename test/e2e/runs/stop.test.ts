import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { plainText } from "../../../src/stdx/plain-text.ts";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

function remand(root: string, ...args: string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
  return { status, out: stdout + stderr };
}

/** `remand top` in a real terminal: pauses and resumes by a key, follows a resize, and leaves the screen as it was. */
async function resumeInTop(root: string): Promise<void> {
  // The terminal becomes wider once there is a file that says so.
  const widen = `(until [ -e .remand/wide ]; do sleep 0.05; done; stty cols 120 < /dev/tty) &`;
  const command = `stty cols 60 rows 12; ${widen} exec ${process.execPath} ${MAIN} top --utc`;
  const env = { ...process.env, TERM: "xterm", CI: "", SHELL: "/bin/sh" };
  const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: root, env });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let shown = "";
  child.stdout.on("data", (data) => (shown += String(data)));
  const until = async (pattern: RegExp): Promise<void> => {
    await expect.poll(() => shown, { timeout: 30_000, interval: 20 }).toMatch(pattern);
  };
  const widest = (): number =>
    Math.max(
      ...shown
        .slice(shown.lastIndexOf("\u001b[H"))
        .split(/\r?\n/)
        .map((line) => plainText(line).length),
    );
  await until(/> loop-.*paused/);
  expect(widest()).toBeLessThan(60);
  child.stdin.write("p");
  await until(/: resumed by /);
  writeFileSync(join(root, ".remand/wide"), "");
  await expect.poll(widest, { timeout: 30_000 }).toBeGreaterThan(60);
  child.stdin.write("q");
  expect(await ended).toBe(0);
  expect(shown.trimEnd().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
}

test("stop --now, from another process, ends what runs; the loop goes on later where it was", async () => {
  const root = checkoutOf({ "answer.txt": "wrong\n", ".gitignore": "started\n" });

  const loop = ["loop", "--goal", "say right", "--check", "grep -q right answer.txt", "--reporter", "minimal", "--"];
  const slow = [MAIN, ...loop, "sh", "-c", "touch started; sleep 3600"];
  const child = spawn(process.execPath, slow, { cwd: root, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  while (!remand(root, "log").out.includes("attempt.started")) await sleep(100);

  expect(remand(root, "stop", "--now").out).toContain("ended: loop-");
  // Its agent would work for longer than the test may.
  await ended;
  expect(remand(root, "status").out).toContain("paused: resume it");

  await resumeInTop(root);
  expect(remand(root, "status").out).toContain("no engine runs: remand run continues it");

  const again = remand(root, ...loop, "sh", "-c", "echo right > answer.txt");
  expect(again.status, again.out).toBe(0);
  expect(readFileSync(join(root, "answer.txt"), "utf8")).toBe("right\n");
});
