/**
 * A worker in a separate process that can be killed: it opens its clone, prepares a story, changes a file and commits
 * it. `worker <remote> <folder> <home> <story> <commit|none> <run> <attempt>`; it prints its progress.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openClone } from "../../../src/adapters/git/fleet/shared-clone.ts";
import { createSharedWorktrees } from "../../../src/adapters/git/fleet/shared-worktrees.ts";
import { storyId } from "../../../src/core/events/ids.ts";

const [remote = "", folder = "", home = "", story = "", commit = "none", run = "", attempt = ""] =
  process.argv.slice(2);
const env = { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
const clone = await openClone({ remote, folder, env });
console.log("opened");
const work = createSharedWorktrees(
  { root: clone.root, state: join(clone.root, ".remand"), env },
  { clone, standingOf: () => ({ commit: commit === "none" ? null : commit, run: Number(run) }) },
);
const { path } = await work.prepare(storyId(story));
console.log("prepared");
appendFileSync(join(path, "work.txt"), `${attempt}\n`);
const kept = await work.keep(storyId(story), {
  attempt: Number(attempt),
  subject: `attempt ${attempt}`,
  journalHead: "f".repeat(64),
});
console.log(`kept ${kept.commit}`);
