import fc from "fast-check";
import { expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { runDocument } from "../../src/cli/json-fields.ts";
import type { Recorded } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { PRESETS, type Policy, type PresetName } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { outlineText, outlinesFrom } from "../../src/engine/outline-text.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { boardOf } from "../../src/server/documents.ts";
import { entries } from "../../src/stdx/sorted-map.ts";
import { attemptCount, boardCard, boardRows } from "../../src/views/board/board.ts";
import { costRows, costTotal, dailyMetrics } from "../../src/views/board/cost.ts";
import { inboxItems, questionCount } from "../../src/views/answers/inbox.ts";
import { endedWords } from "../../src/views/answers/notifications.ts";
import { runCounts, summaryText } from "../../src/views/run/run-summary.ts";
import { story } from "../kit/story-world.ts";
import { walk } from "./random-walk.ts";

/* At one moment all views show the same numbers: how many questions wait, which attempt it is, what was spent. */

const STORIES = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c", { shelf: "backlog" })];

const long = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 60, maxLength: 120 });

/** It asks a person before each rework, and has little to spend. */
function askingPolicy(preset: PresetName): Policy {
  const policy = presetPolicy(preset);
  return { ...policy, autonomy: "conservative", limits: { ...policy.limits, iterations: 3 } };
}

function checkQuestions(run: RunState): void {
  const waiting = inboxItems(run).length;
  expect(questionCount(run, null)).toBe(waiting);
  expect(runCounts(run, null).needsYou).toBe(waiting);
  expect((runDocument(run, null) as { counts: { needsYou: number } }).counts.needsYou).toBe(waiting);
  expect(Number(/(\d+) needs? you/.exec(summaryText(run, null, "·"))?.[1] ?? 0)).toBe(waiting);
  expect(Number(/, (\d+) questions? wait/.exec(endedWords(run, 0).title)?.[1] ?? 0)).toBe(waiting);
  const cards = [...entries(run.stories)].map(([, state]) => boardCard(run, state));
  const column = cards.filter((card) => card.column === "needs-you").length;
  expect(column + (run.escalation === null ? 0 : 1)).toBe(waiting);
  expect(boardOf({ state: run } as Parameters<typeof boardOf>[0], cards, "").counts.needsYou).toBe(waiting);
  // Every story is counted once, be it by its question.
  const { stories, needsYou, ...rest } = runCounts(run, null);
  const counted = Object.values(rest).reduce((sum, count) => sum + count, 0);
  expect(counted + needsYou - (run.escalation === null ? 0 : 1)).toBe(stories);
}

function checkAttempts(run: RunState): void {
  for (const [id, state] of entries(run.stories)) {
    const [row] = boardRows(run, [id]);
    const [outline] = outlinesFrom([outlineText(state, null)], []);
    expect(row?.attempt).toBe(state.attempts.at(-1)?.attempt ?? 0);
    expect(outline?.attempts.length).toBe(row?.attempt);
    expect(outline?.counters.attempts).toBe(row?.attempts);
    if (state.running?.type === "attempt") expect(row?.attempt).toBe(state.running.attempt);
    expect(boardCard(run, state).attempt).toBe(row?.attempt);
    expect(attemptCount(row!).startsWith(row!.attempt === 0 ? "" : String(row!.attempt))).toBe(true);
  }
}

function checkMoney(run: RunState, lines: readonly Recorded[]): void {
  const total = costTotal(costRows(lines, run, "story"));
  const days = dailyMetrics(lines);
  const isUnknown = days.some(({ costUnknown }) => costUnknown);
  expect(run.spent.costUnknown).toBe(total.costUnknown);
  expect(isUnknown).toBe(total.costUnknown);
  expect(run.spent.costUsd).toBe(total.costUsd);
  for (const [, { spent }] of entries(run.stories)) if (spent.costUnknown) expect(run.spent.costUnknown).toBe(true);
}

test("all views agree, at every moment of every walk", { timeout: 120_000 }, () => {
  let moments = 0;
  let asking = 0;
  fc.assert(
    fc.property(fc.constantFrom(...PRESETS), long, fc.nat({ max: 6 }), fc.nat(1000), (preset, picks, every, odd) => {
      const { events } = walk(askingPolicy(preset), STORIES, picks, every);
      let run = EMPTY_RUN;
      const lines: Recorded[] = [];
      for (const [at, line] of events.entries()) {
        const priced = withPrice(line, (at * 7 + odd) % 11);
        lines.push(priced);
        run = evolve(run, priced);
        checkQuestions(run);
        checkAttempts(run);
        moments++;
        if (questionCount(run, null) > 0) asking++;
      }
      checkMoney(run, lines);
    }),
    { numRuns: 120 },
  );
  expect(asking).toBeGreaterThan(50);
  expect(moments).toBeGreaterThan(1000);
});

/** Dimes, which binary fractions cannot add, and now and then nothing is said of the price. */
function withPrice(line: Recorded, price: number): Recorded {
  const { event } = line;
  if (event.type === "gate.judged") {
    const { costUsd: _none, ...judgement } = event.judgement;
    const asked = judgement.gate === "review" ? { asked: { critic: 1 } as never } : {};
    return { ...line, event: { ...event, judgement: { ...judgement, ...asked, ...priceOf(price) } } };
  }
  if (!("durationMs" in event)) return line;
  const { costUsd: _none, ...rest } = event;
  return { ...line, event: { ...rest, ...priceOf(price) } };
}

const priceOf = (price: number): object => (price === 0 ? {} : { costUsd: price / 10 });
