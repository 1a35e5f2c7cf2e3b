/** What is no tampering: a copy, a clone, a moved folder, another worktree, a crash. Nothing is said of it. */
import { spawn } from "node:child_process";
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, afterAll, beforeEach, describe, expect, test } from "vitest";
import type { TestRepository } from "../../kit/git-repository.ts";
import { chance } from "../../simulation/chance.ts";
import {
  anchorIn,
  copyOf,
  journalIn,
  loop,
  MAIN,
  recordedProject,
  remand,
  run,
  storyText,
} from "../recorded-project.ts";
import { runsAll, testInFull } from "../../sampled.ts";

let made: TestRepository;
let root: string;
beforeAll(() => {
  made = recordedProject();
}, 120_000);
afterAll(() => made.clear());
beforeEach(() => {
  root = copyOf(made);
});

describe("what is no tampering", () => {
  /** What it says where a run goes on without a word about the journal. */
  const goesOn = (folder: string): string => {
    const ran = run(folder);
    const isQuiet = ran.status === 0 && !/warning|missing|A new journal/.test(ran.err);
    return isQuiet ? remand(folder, "verify").out : ran.err;
  };
  test("a copy of the checkout, beside the first", { timeout: 120_000 }, () => {
    expect(goesOn(root)).toMatch(/^intact: /);
    expect(goesOn(made.root)).toMatch(/^intact: /);
  });
  testInFull("a folder that was moved", { timeout: 120_000 }, () => {
    const there = `${root}-moved`;
    renameSync(root, there);
    expect(goesOn(there)).toMatch(/^intact: /);
  });
  test("a fresh clone, and one that gets the story's branch", { timeout: 120_000 }, () => {
    const clone = `${root}-clone`;
    made.git("clone", "--quiet", root, clone);
    made.git("-C", clone, "fetch", "--quiet", "origin", "refs/heads/remand/*:refs/heads/remand/*");
    cpSync(join(root, "stories"), join(clone, "stories"), { recursive: true });
    const ran = run(clone);
    expect(ran.err).not.toMatch(/missing|A new journal|not the one/);
    expect(remand(clone, "verify").out).toMatch(/^intact: /);
  });
  testInFull(
    "another worktree of the same repository, and one that takes the place of a removed one",
    { timeout: 120_000 },
    () => {
      const tree = `${root}-tree`;
      for (let i = 0; i < 2; i++) {
        made.git("-C", root, "worktree", "add", "--quiet", "--detach", tree);
        const ran = loop(tree);
        expect(ran.err).not.toMatch(/missing|A new journal|not the one/);
        expect(remand(tree, "verify").out).toMatch(/^intact: /);
        made.git("-C", root, "worktree", "remove", "--force", tree);
      }
      expect(goesOn(root)).toMatch(/^intact: /);
    },
  );
  test("a state folder that was brought to a fresh clone", { timeout: 120_000 }, () => {
    const clone = `${root}-clone`;
    made.git("clone", "--quiet", root, clone);
    cpSync(join(root, ".remand"), join(clone, ".remand"), { recursive: true });
    const verified = remand(clone, "verify");
    expect(verified.out).toMatch(/^intact: /);
    expect(run(clone).err).not.toMatch(/missing|cut off|A new journal/);
  });
  test("an engine that is killed at any moment", { timeout: 300_000 }, async () => {
    for (let i = 0; i < (runsAll ? 5 : 1); i++)
      writeFileSync(join(root, `stories/more-${i}.md`), storyText(`more-${i}`));
    for (let kill = 0; kill < (runsAll ? 4 : 2); kill++) {
      const child = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, stdio: "pipe" });
      let said = "";
      child.stderr.on("data", (text: Buffer) => (said += text.toString()));
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await sleep(200 + 1200 * chance("tampered", kill));
      child.kill("SIGKILL");
      await ended;
      expect(said).not.toMatch(/was changed|cut off|missing|recorded/);
    }
    // A step in which the engine was killed three times is asked about; the journal is whole all the same.
    expect(run(root).err).not.toMatch(/was changed|cut off|missing|recorded/);
    expect(remand(root, "verify").out).toMatch(/^intact: /);
  });
  testInFull("a new journal whose making was cut off is finished by the next run", { timeout: 120_000 }, () => {
    rmSync(journalIn(root));
    const known = JSON.parse(readFileSync(anchorIn(root), "utf8")) as Record<string, unknown>;
    const lost = { id: known["id"], position: known["position"], hash: known["hash"], why: "it was lost", kept: null };
    const pending = { id: "e".repeat(32), by: "Ada", lost };
    writeFileSync(anchorIn(root), JSON.stringify({ ...known, pending }));
    expect(run(root).status).toBe(0);
    expect(remand(root, "verify").out).toMatch(/^replaced: [^]*by Ada: it was lost/);
  });
});
