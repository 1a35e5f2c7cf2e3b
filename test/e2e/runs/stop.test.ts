import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkoutOf } from "../checkout.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

function remand(root: string, ...args: string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
  return { status, out: stdout + stderr };
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

  const again = remand(root, ...loop, "sh", "-c", "echo right > answer.txt");
  expect(again.status, again.out).toBe(0);
  expect(readFileSync(join(root, "answer.txt"), "utf8")).toBe("right\n");
});
