/**
 * An agent or a check that ends the engine itself must not be run for ever; a person who stops the engine, however often
 * and however hard, must not be taken for that, and must find nothing still running.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createHost } from "../../../src/compose/host.ts";
import type { Event } from "../../../src/core/events/event.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { entries } from "../../../src/stdx/sorted-map.ts";
import { checkoutOf } from "../checkout.ts";
import { runsAll } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const CHECK = "grep -q right answer.txt";
/** In a sandbox an agent cannot reach the engine. */
const ENV = { ...process.env, REMAND_SANDBOX: "off" };
const SUICIDE = "kill -9 $PPID; sleep 30";
/** An agent that kills each engine it sees, when that one has had the time to find it. */
const KILL_ENGINES = `echo once >> starts
while :; do
  engine=$(sed 's/.*"pid":\\([0-9]*\\).*/\\1/' .remand/engine.json)
  if [ "$engine" != "$seen" ]; then sleep 2; kill -9 "$engine"; seen=$engine; fi
  sleep 0.1
done`;

function loop(check: string, agent: string): string[] {
  return [MAIN, "loop", "--goal", "say right", "--check", check, "--reporter", "minimal", "--", "sh", "-c", agent];
}

/** Starts it again whenever it is killed, as a supervisor would, ten times at most. */
function supervised(root: string, args: readonly string[]): (number | string)[] {
  const ends: (number | string)[] = [];
  while (ends.length < 10) {
    const { status, signal } = spawnSync(process.execPath, args, { cwd: root, stdio: "ignore", env: ENV });
    ends.push(signal ?? status ?? "?");
    if (signal === null) break;
  }
  return ends;
}

async function journal(root: string): Promise<{ state: StoryState; interruptions: Event[] }> {
  const look = (await createHost(process.env).openView(root))!;
  const state = [...entries(look.state.stories)][0]![1];
  const interruptions: Event[] = [];
  for await (const { event } of look.lines(0)) if (event.type === "work.interrupted") interruptions.push(event);
  await look.close();
  return { state, interruptions };
}

describe("a step that kills the engine", () => {
  test("an agent: the third death asks a person, and the answer goes on", async () => {
    const root = checkoutOf({ "answer.txt": "wrong\n", ".gitignore": "starts\n" });
    const ends = supervised(root, loop(CHECK, KILL_ENGINES));
    expect([ends.at(-1), ends.slice(0, 3)]).toEqual([4, ["SIGKILL", "SIGKILL", "SIGKILL"]]);
    const { state, interruptions } = await journal(root);
    expect(interruptions).toMatchObject([{ engine: "died" }]);
    // It outlived the first two, and was not started again.
    expect(readFileSync(join(root, "starts"), "utf8")).toBe("once\n");
    expect(processesWith(".remand/engine.json")).toEqual([]);
    expect(state.escalation).toMatchObject({
      reason: { type: "engine-died", during: "attempt 1", times: 3 },
      title: expect.stringMatching(/the engine died 3 times while attempt 1 ran$/) as string,
    });
    // The same again asks the same, and runs nothing.
    expect(supervised(root, loop(CHECK, KILL_ENGINES))).toEqual([4]);
    const answered = spawnSync(
      process.execPath,
      [MAIN, "answer", state.escalation!.id, "send-back", "--message", "leave the parent process alone"],
      { cwd: root, encoding: "utf8" },
    );
    expect(answered.status, answered.stdout + answered.stderr).toBe(0);
    expect(supervised(root, loop(CHECK, "echo right > answer.txt"))).toEqual([0]);
  });

  test("an agent that kills its parent ends the supervisor, and has crashed itself", async () => {
    const root = checkoutOf({ "answer.txt": "wrong\n" });
    expect(supervised(root, loop(CHECK, SUICIDE))).toEqual([4]);
    const { state, interruptions } = await journal(root);
    expect(interruptions).toEqual([]);
    expect(state.attempts.map(({ outcome }) => outcome)).toEqual(["crashed", "crashed", "crashed"]);
    expect(state.escalation).toMatchObject({ reason: { type: "agent-failure" } });
  });

  test("a check: it can be waived", { timeout: 120_000 }, async () => {
    const root = checkoutOf({ "answer.txt": "wrong\n" });
    // Before the work it fails in peace.
    const args = loop(`${CHECK} && { ${SUICIDE}; }`, "echo right > answer.txt");
    expect(supervised(root, args)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", 4]);
    const { state } = await journal(root);
    expect(state.escalation).toMatchObject({
      gate: "checks",
      reason: { type: "engine-died", during: "the checks gate", times: 3 },
    });
    const waived = spawnSync(
      process.execPath,
      [MAIN, "answer", state.escalation!.id, "waive", "--message", "seen by hand"],
      { cwd: root, encoding: "utf8" },
    );
    expect(waived.status, waived.stdout + waived.stderr).toBe(0);
    expect(supervised(root, args)).toEqual([0]);
  });
});

describe("a person who stops the engine", () => {
  const started = (root: string): boolean => existsSync(join(root, "started"));

  async function running(root: string, agent: string): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
    rmSync(join(root, "started"), { force: true });
    const child = spawn(process.execPath, loop(CHECK, agent), { cwd: root, stdio: "ignore", env: ENV });
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));
    while (!started(root)) await sleep(20);
    return { child, ended };
  }

  const ALL = ["SIGTERM 143", "SIGINT 130", "SIGHUP 129", "SIGTERM 143", "SIGTERM 143"];
  // Deaths of the engine are asked about from the third on.
  const stops = runsAll ? ALL : ALL.slice(0, 3);
  test(`${stops.length} times in the same attempt is asked nothing for it`, { timeout: 120_000 }, async () => {
    const root = checkoutOf({ "answer.txt": "wrong\n", ".gitignore": "started\n" });
    for (const stop of stops) {
      const [signal, code] = stop.split(" ") as [NodeJS.Signals, string];
      const { child, ended } = await running(root, "touch started; exec sleep 300");
      child.kill(signal);
      expect(await ended).toBe(Number(code));
    }
    const { state, interruptions } = await journal(root);
    expect(interruptions).toMatchObject(stops.map(() => ({ engine: "stopped" })));
    expect(state.escalation).toBeNull();
    expect(supervised(root, loop(CHECK, "echo right > answer.txt"))).toEqual([0]);
  });

  test("twice, while the agent ignores signals: nothing is left running", { timeout: 120_000 }, async () => {
    const root = checkoutOf({ "answer.txt": "wrong\n", ".gitignore": "started\n" });
    const mark = `300.${process.pid}`;
    const stubborn = `trap '' INT TERM; setsid sh -c "trap '' INT TERM; while :; do sleep ${mark}1; done" & touch started; while :; do sleep ${mark}2; done`;
    const { child, ended } = await running(root, stubborn);
    expect(processesWith(mark)).not.toEqual([]);
    child.kill("SIGINT");
    await sleep(100);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(processesWith(mark)).toEqual([]);
    expect((await journal(root)).interruptions).toMatchObject([{ engine: "stopped" }]);
    expect(supervised(root, loop(CHECK, "echo right > answer.txt"))).toEqual([0]);
    expect((await journal(root)).interruptions).toHaveLength(1);
  });
});

function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}
