import type { Event } from "../../src/core/events/event.ts";
import type { StoryId } from "../../src/core/events/ids.ts";
import type { StoredEvent } from "../../src/ports/journal.ts";
import { assert } from "../../src/stdx/assert.ts";

/** What costs something each time it is done. */
export type Work = "agent" | "gate" | "merge";

/**
 * What was done in the simulated world, counted by the world itself. The journal cannot show that an agent worked
 * twice: asked again with the same journal, the simulated agent says the same again.
 */
export interface WorkCounts {
  /** How often work was begun, by `work story`. */
  readonly begun: Map<string, number>;
  /** Work that was begun and is written down nowhere yet: it is lost if the engine dies now. */
  readonly open: Set<string>;
  /** How often work was lost like that. Only so often may it be done again. */
  readonly lost: Map<string, number>;
  /** Ends of attempts that the outbox was asked to keep, and those that it kept. */
  readonly outboxAsked: Set<string>;
  readonly outboxKept: Set<string>;
  /** Can the engine that continues after a death read the outbox? Not that of another machine. */
  readonly isOutboxFound: boolean;
  /** The engine that does this has lost its place: whatever it begins now is begun for nothing. */
  isReplaced: boolean;
  deaths: number;
}

export function newWorkCounts(): WorkCounts {
  return {
    begun: new Map(),
    open: new Set(),
    lost: new Map(),
    outboxAsked: new Set(),
    outboxKept: new Set(),
    isOutboxFound: true,
    isReplaced: false,
    deaths: 0,
  };
}

export function beginWork(deeds: WorkCounts, work: Work, story: StoryId): void {
  const key = `${work} ${story}`;
  add(deeds.begun, key);
  if (deeds.isReplaced) add(deeds.lost, key);
  else deeds.open.add(key);
}

/** The outbox keeps the end of an attempt: the agent must not work on it again, whatever happens now. */
export function keepInOutbox(deeds: WorkCounts, key: string): void {
  deeds.outboxKept.add(key);
  if (deeds.isOutboxFound) deeds.open.delete(`agent ${key.slice(0, key.lastIndexOf("/"))}`);
}

/** The engine died, or lost its place to another one. */
export function loseOpenWork(deeds: WorkCounts): void {
  deeds.deaths++;
  for (const key of deeds.open) add(deeds.lost, key);
  deeds.open.clear();
}

const REPORTS: Readonly<Partial<Record<Event["type"], Work>>> = {
  "attempt.finished": "agent",
  "attempt.unclear": "agent",
  "gate.judged": "gate",
  "work.delivered": "merge",
};

/** The journal has taken these events. */
export function reportWork(deeds: WorkCounts, story: StoryId | null, events: readonly Event[]): void {
  for (const { type } of events) deeds.open.delete(`${REPORTS[type]} ${story}`);
}

/** An agent's end must be safe before the journal has it: the journal takes it last, and the engine may die before. */
export function checkOutboxFirst(deeds: WorkCounts, story: StoryId | null, events: readonly Event[]): void {
  for (const event of events)
    assert(
      event.type !== "attempt.finished" || deeds.outboxAsked.has(`${story}/attempt-${event.attempt}`),
      `${story}: attempt finished without its end in the outbox`,
    );
}

/**
 * Nothing that was reported is done again, and what was not is done again at most once for each time it was lost, or
 * for each time a step of the engine failed. Unless others worked too, nothing is reported that was not done either.
 */
export function checkDeeds(deeds: WorkCounts, lines: readonly StoredEvent[], isAlone: boolean): void {
  const reported = new Map<string, number>();
  const failed = new Map<StoryId | null, number>();
  for (const { story, event } of lines) {
    const work = REPORTS[event.type];
    if (work !== undefined) add(reported, `${work} ${story}`);
    if (event.type === "step.failed") add(failed, story);
  }
  for (const key of new Set([...deeds.begun.keys(), ...reported.keys()])) {
    const [begun, done] = [deeds.begun.get(key) ?? 0, reported.get(key) ?? 0];
    const mayRepeat = (deeds.lost.get(key) ?? 0) + (failed.get(key.slice(key.indexOf(" ") + 1) as StoryId) ?? 0);
    assert(
      begun <= done + mayRepeat,
      `${key}: begun ${begun} times, reported ${done} times, may be repeated ${mayRepeat} times`,
    );
    assert(!isAlone || done <= begun, `${key}: reported ${done} times, begun ${begun} times`);
  }
}

/** What the outbox kept came into the journal, whenever the engine died. Only a death keeps it from being emptied. */
export function checkOutbox(
  deeds: WorkCounts,
  outbox: ReadonlyMap<string, string>,
  lines: readonly StoredEvent[],
): void {
  const finished = new Set(
    lines.flatMap(({ story, event }) =>
      event.type === "attempt.finished" ? [`${story}/attempt-${event.attempt}`] : [],
    ),
  );
  for (const key of deeds.outboxKept) assert(finished.has(key), `${key}: the outbox had its end, the journal has not`);
  assert(deeds.deaths > 0 || outbox.size === 0, `left in the outbox: ${[...outbox.keys()].join(", ")}`);
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
