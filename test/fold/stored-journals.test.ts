import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecorded } from "../../src/core/schemas/event.ts";
import type { Recorded } from "../../src/core/events/event.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { entries } from "../../src/stdx/sorted-map.ts";

/**
 * Journals of real runs of each preset, as an earlier version wrote them. They are never written again: a change that
 * cannot fold them, or folds them differently, needs an upcaster. A new field of an event or a policy is optional.
 */
const FOLDER = join(import.meta.dirname, "journals");

function read(name: string): Recorded[] {
  const lines = readFileSync(join(FOLDER, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line, at) => {
    const result = readRecorded(JSON.parse(line));
    if (!result.ok) throw new Error(`line ${at + 1} of ${name}: ${result.problem}`);
    return result.recorded;
  });
}

/** What a person would ask about a story, in words that do not depend on how the state is kept. */
function summaryOf(state: StoryState): string {
  const { attempts, ending, escalation, gates, rework } = state;
  const results = Object.entries(gates)
    .map(([gate, { last }]) => `${gate} ${last?.result ?? "none"}`)
    .sort();
  const end = ending === null ? "open" : ending.how;
  const question = escalation === null ? "" : `, asked about ${escalation.reason.type}`;
  return `${attempts.length} attempts, ${end}${question}; ${results.join(", ")}; rework ${rework?.gate ?? "none"}`;
}

function summaries(name: string): Record<string, string> {
  const run = read(name).reduce(evolve, EMPTY_RUN);
  return Object.fromEntries([...entries(run.stories)].map(([id, state]) => [id, summaryOf(state)]));
}

describe("journals that an earlier version wrote", () => {
  test("exist for each preset", () => {
    const presets = readdirSync(FOLDER).flatMap((file) =>
      read(file.replace(/\.jsonl$/, "")).flatMap(({ event }) =>
        event.type === "policy.set" ? [event.policy.preset] : [],
      ),
    );
    expect([...new Set(presets)].sort()).toEqual(["critic-audit", "factory", "goal", "story"]);
  });

  test.each([
    [
      "critic-audit",
      {
        one: "1 attempts, accepted; audit pass, checks pass, integrity pass, review pass; rework none",
        two: "1 attempts, accepted; audit pass, checks pass, integrity pass, review pass; rework none",
      },
    ],
    [
      "critic-audit-dispute",
      { cap: "2 attempts, open, asked about dispute; checks pass, integrity pass, review fail; rework none" },
    ],
    [
      "factory",
      {
        cap: "2 attempts, accepted; ci pass, integrity pass, merge pass, mutation pass, review pass, tdd pass; rework none",
      },
    ],
    ["goal", { cap: "3 attempts, open, asked about stall; checks fail, integrity pass; rework none" }],
    [
      "story",
      {
        fees: "4 attempts, accepted; checks pass, integrity pass, review pass; rework none",
        prices: "6 attempts, open, asked about budget; checks pass, integrity pass, review fail; rework none",
      },
    ],
  ])("%s folds to the same state as then", (name, stories) => {
    expect(summaries(name)).toEqual(stories);
  });
});
