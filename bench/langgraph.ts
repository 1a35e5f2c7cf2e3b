import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSqliteJournal } from "../src/adapters/journal/sqlite-journal.ts";
import type { Story } from "../src/core/stories/story.ts";
import { median, type BenchResult } from "./bench-result.ts";
import { openEngine } from "./engine/driven.ts";
import { instantStory } from "./engine/instant-world.ts";
import { names } from "./engine/steps.ts";

/** The peer's folder in the sources: this file itself runs from `.build/bench`. */
const PEER = fileURLToPath(new URL("../../bench/peer/", import.meta.url));
const STORIES = 200;
const ROUNDS = 10;

/**
 * Fail, rework, pass: the same workflow on LangGraph.js with its SQLite checkpointer, side by side. On both sides, an
 * agent's result is on the disk before it is used.
 */
export async function run(): Promise<readonly BenchResult[]> {
  const peer = await loadPeer();
  if (peer === null) return [];
  mkdirSync(".build", { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), ".build", "bench-langgraph-"));
  try {
    return [...(await compared(folder, peer, 1)), ...(await compared(folder, peer, STORIES))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Workflow {
  accept(story: Story): Promise<void>;
  close(): void;
}

interface Peer {
  createWorkflow(file: string, durability: "full" | "as-it-comes"): Workflow;
}

/** Loads the peer, and installs it the first time. If that is impossible, nothing is compared, and a line says so. */
async function loadPeer(): Promise<Peer | null> {
  if (!existsSync(join(PEER, "node_modules", ".package-lock.json"))) {
    const { status, stderr } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: PEER, encoding: "utf8" });
    if (status !== 0) return unavailable(stderr ?? "npm could not be started");
  }
  try {
    return (await import(join(PEER, "workflow.js"))) as Peer;
  } catch (error) {
    return unavailable((error as Error).message);
  }
}

function unavailable(why: string): null {
  const [line = ""] = why.split("\n").filter((each) => /error/i.test(each));
  console.error(`langgraph: not compared, because it cannot be installed here: ${line || why.trim()}`);
  return null;
}

type Side = (stories: readonly string[]) => Promise<void>;

async function compared(folder: string, peer: Peer, atOnce: number): Promise<readonly BenchResult[]> {
  const ours = await oursOf(folder, atOnce);
  const full = theirsOf(peer, join(folder, `full-${atOnce}.db`), "full", atOnce);
  const easy = theirsOf(peer, join(folder, `easy-${atOnce}.db`), "as-it-comes", atOnce);
  const rates: { ours: number; full: number; easy: number }[] = [];
  const count = atOnce === 1 ? STORIES / ROUNDS : STORIES;
  for (const side of [ours, full, easy]) await side.accept(names("warm-up", count));
  for (let round = 0; round < (atOnce === 1 ? ROUNDS : 3); round++) {
    const stories = names(`round-${round}`, count);
    rates.push({
      ours: await rateOf(ours.accept, stories),
      full: await rateOf(full.accept, stories),
      easy: await rateOf(easy.accept, stories),
    });
  }
  full.close();
  easy.close();
  await ours.close();
  const of = (side: "ours" | "full" | "easy"): number => median(rates.map((round) => round[side]));
  const how = atOnce === 1 ? "one by one" : `${atOnce} at once`;
  const row = (side: "full" | "easy", name: string, limit: number | null): BenchResult => ({
    name: `fail, rework, pass: stories ${how}`,
    value: of("ours"),
    unit: "/s",
    // A ratio of times, so that less is better, as in all results.
    ratio: of(side) / of("ours"),
    against: `${name} (${of(side).toFixed(0)}/s)`,
    limit,
  });
  return [row("full", "LangGraph.js, as durable", 1), row("easy", "LangGraph.js as it comes, no sync", null)];
}

async function rateOf(side: Side, stories: readonly string[]): Promise<number> {
  const begin = performance.now();
  await side(stories);
  return (stories.length / (performance.now() - begin)) * 1000;
}

async function oursOf(folder: string, atOnce: number): Promise<{ accept: Side; close(): Promise<void> }> {
  const journal = await createSqliteJournal(join(folder, `ours-${atOnce}.db`));
  const engine = await openEngine(journal, { atOnce, failures: 1, gates: ["checks"], outbox: journal.outbox });
  return { accept: (stories) => engine.accept(stories), close: () => journal.close() };
}

function theirsOf(
  peer: Peer,
  file: string,
  durability: "full" | "as-it-comes",
  atOnce: number,
): { accept: Side; close(): void } {
  const workflow = peer.createWorkflow(file, durability);
  const accept: Side = async (stories) => {
    if (atOnce > 1) await Promise.all(stories.map((name) => workflow.accept(instantStory(name))));
    else for (const name of stories) await workflow.accept(instantStory(name));
  };
  return { accept, close: () => workflow.close() };
}
