import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { leftovers } from "../../../src/adapters/process/leftovers.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { sha256 } from "../../../src/stdx/sha256.ts";
import { note } from "../../contract/workspace.ts";
import { filesIn, gitIn } from "../../kit/git-repository.ts";
import { compileModule } from "../journal-process/compiled.ts";
import { makeFleet, type Fleet } from "../../kit/fleet/shared-machines.ts";

const STORY = storyId("S-1");
let worker: ReturnType<typeof compileModule>;
let fleet: Fleet;

beforeAll(() => {
  worker = compileModule(new URL("../shared-process/worker.ts", import.meta.url));
});
afterAll(() => worker?.remove());
beforeEach(() => {
  fleet = makeFleet(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`src/${i}.txt`, `${i}\n`.repeat(200)])));
});
afterEach(() => fleet.clear());

interface Running {
  /** What it has printed so far. */
  said(): string;
  kill(): Promise<void>;
  ended(): Promise<number | null>;
}

function start(folder: string, attempt: number, run = fleet.journal.begin(STORY)): Running {
  const { bare, journal, origin } = fleet;
  const args = [bare, folder, origin.home, STORY, journal.commits.get(STORY) ?? "none", String(run), String(attempt)];
  const child = spawn(process.execPath, [worker.program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (some: Buffer) => (text += some.toString()));
  const closed = once(child, "close");
  const ended = async (): Promise<number | null> => (await closed)[0] as number | null;
  return {
    said: () => text,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended();
    },
  };
}

const keptIn = (said: string): string | undefined => /kept (\w+)/.exec(said)?.[1];

test("a worker that is killed repeatedly loses nothing that the journal names", async () => {
  const folder = join(fleet.origin.home, "killed");
  const two = await fleet.machine("two");
  const done: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt++) {
    const running = start(folder, attempt);
    // A worker that has printed its progress is killed in the next step; a third of them while they start.
    const mark = ["", "opened", "prepared"][attempt % 3]!;
    while (!running.said().includes(mark)) await pause(2);
    await pause(((attempt * 37) % 11) * (attempt % 3 === 0 ? 30 : 8));
    await running.kill();
    const kept = keptIn(running.said());
    fleet.journal.end(STORY, kept);
    if (kept !== undefined) done.push(attempt);
    if (attempt % 4 !== 0 || kept === undefined) continue;
    const more = await two.attempt(STORY, attempt, { "two.txt": `${attempt}\n` });
    expect(fleet.file(more.commit, "work.txt")).toBe(done.map((each) => `${each}\n`).join(""));
  }
  const last = start(folder, 99);
  expect(await last.ended()).toBe(0);
  fleet.journal.end(STORY, keptIn(last.said()));
  fleet.journal.begin(STORY);
  const place = await two.work.prepare(STORY);
  expect(filesIn(place.path)["work.txt"]).toBe(`- ${[...done, 99].map((each) => `${each}\n`).join("")}`);
  // Nothing incomplete is left, and git finds no fault with either repository.
  expect(readdirSync(fleet.origin.home).filter((name) => name.includes(".making-"))).toEqual([]);
  gitIn(folder, fleet.origin.env, "fsck", "--no-dangling");
  fleet.git("fsck", "--no-dangling");
});

test("a worker that is killed during a push pushes the same commit after its restart", async () => {
  const { bare, origin, journal } = fleet;
  const [begun, go] = [join(origin.home, "begun"), join(origin.home, "go")];
  fleet.hook("pre-receive", `#!/bin/sh\ntouch "${begun}"\nwhile test ! -e "${go}"; do sleep 0.02; done\n`);
  const run = journal.begin(STORY);
  const running = start(join(origin.home, "one"), 1, run);
  while (!existsSync(begun)) await pause(5);
  await running.kill();
  expect(fleet.refs("refs/remand")).toEqual([]);
  // Its push still runs, orphaned.
  const cookie = `clone-${sha256(join(origin.home, "one")).slice(0, 24)}`;
  expect(await leftovers(cookie)).not.toEqual([]);
  // By the journal the run continues: the agent's files are committed, to the same commit.
  const one = await fleet.machine("one");
  expect(await leftovers(cookie)).toEqual([]);
  writeFileSync(go, "");
  const { commit } = await one.work.keep(STORY, note(1));
  expect(fleet.refs("refs/remand")).toEqual([`refs/remand/attempts/S-1/${commit}`]);
  expect(fleet.file(commit, "work.txt")).toBe("1\n");
  expect(existsSync(join(bare, `refs/remand/attempts/S-1/${commit}.lock`))).toBe(false);
  journal.end(STORY, commit);
  journal.begin(STORY);
  const two = await fleet.machine("two");
  expect(readFileSync(join((await two.work.prepare(STORY)).path, "work.txt"), "utf8")).toBe("1\n");
});
