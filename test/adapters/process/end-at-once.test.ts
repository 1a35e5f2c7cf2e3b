import { expect, test } from "vitest";
import { endAtOnce, runProcess } from "../../../src/adapters/process/run-process.ts";

test("a program that is being ended slowly is killed when there is no more time", async () => {
  const stop = new AbortController();
  const run = runProcess(
    {
      command: "trap '' INT TERM; echo ready; while :; do sleep 1; done",
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      timeoutMs: Infinity,
      sandbox: null,
      // Longer than this test's time limit.
      graceMs: 600_000,
    },
    { signal: stop.signal, onLine: () => stop.abort() },
  );
  stop.signal.addEventListener("abort", () => setTimeout(endAtOnce, 100));
  expect(await run).toMatchObject({ status: "cancelled", signal: "SIGKILL" });

  // Programs that are ended later are killed at once too.
  const next = new AbortController();
  const again = runProcess(
    {
      command: "trap '' INT TERM; echo ready; sleep 300",
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      timeoutMs: Infinity,
      sandbox: null,
      graceMs: 600_000,
    },
    { signal: next.signal, onLine: () => next.abort() },
  );
  expect(await again).toMatchObject({ status: "cancelled" });
});
