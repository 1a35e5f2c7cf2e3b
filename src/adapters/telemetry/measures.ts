import type { Attributes as OtelAttributes, Counter, Histogram, Meter } from "@opentelemetry/api";
import type { Event } from "../../core/events/event.ts";
import { LANES } from "../../core/stories/command.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { entries, size } from "../../stdx/sorted-map.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { ownRedactor } from "../process/own-secrets.ts";
import { type Attributes, costIn, type WorkPiece } from "./work-pieces.ts";
import type { OtelApi } from "./load-api.ts";

/** The state of the run, for gauges that are read now and then. */
export interface RunGauges {
  state(): RunState | null;
  readonly tally: Pick<Tally, "open" | "waitingForPerson">;
}

export interface TelemetryMeasures {
  ended(piece: WorkPiece): void;
  /** Counts a line that this process wrote: one step of a story. */
  step(event: Event): void;
  called(seconds: number, attributes: Attributes): void;
  tokens(input: number | undefined, output: number | undefined, attributes: Attributes): void;
  tookOver(jobs: number): void;
  /** Stops reporting the gauges of the run. */
  close(): void;
}

/**
 * Creates the metrics. Counters and durations have no story attribute, because there are too many stories; traces have
 * it.
 */
export function createMeasures(api: OtelApi, version: string, standing: RunGauges): TelemetryMeasures {
  const meter = api.metrics.getMeter("remand", version);
  const pieces = pieceMeasures(meter);
  const steps = count(meter, "remand.steps", "Lines that this process wrote to the journal", "{line}");
  const cost = count(meter, "remand.cost", "Cost reported by agents", "USD");
  const used = count(meter, "remand.tokens", "Tokens reported by agents", "{token}");
  const takeovers = count(meter, "remand.takeovers", "Jobs that were taken over from workers that are gone", "{job}");
  const seconds = lengths(meter, "gen_ai.client.operation.duration", "How long calls of agents took");
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    description: "Tokens of calls of agents, by their type",
    unit: "{token}",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  return {
    ended: ({ kind, attributes, since, at }) => {
      const about = dimensions(attributes);
      pieces[kind].took?.record(Math.max(0, at - since) / 1000, about);
      pieces[kind].count?.add(1, about);
    },
    step: (event) => {
      steps.add(1, { "remand.event": event.type });
      const { costUsd, tokens: sum } = costIn(event) ?? {};
      const gate = event.type === "gate.judged" ? { "remand.gate": event.judgement.gate } : {};
      if (costUsd !== undefined) cost.add(costUsd, { "remand.event": event.type, ...gate });
      if (sum !== undefined) used.add(sum, { "remand.event": event.type, ...gate });
    },
    called: (took, attributes) => seconds.record(took, dimensions(attributes)),
    tokens: (input, output, attributes) => {
      const about = dimensions(attributes);
      if (input !== undefined) tokens.record(input, { ...about, "gen_ai.token.type": "input" });
      if (output !== undefined) tokens.record(output, { ...about, "gen_ai.token.type": "output" });
    },
    tookOver: (jobs) => takeovers.add(jobs),
    close: observe(meter, standing),
  };
}

type PieceMeasures = {
  readonly [K in WorkPiece["kind"]]: { readonly took: Histogram | null; readonly count: Counter | null };
};

function pieceMeasures(meter: Meter): PieceMeasures {
  return {
    attempt: {
      took: lengths(meter, "remand.attempt.duration", "How long attempts of agents took"),
      count: count(meter, "remand.attempts", "Attempts that ended, by outcome", "{attempt}"),
    },
    gate: {
      took: lengths(meter, "remand.gate.duration", "How long gates took to judge"),
      count: count(meter, "remand.judgements", "Judgements, by gate and result", "{judgement}"),
    },
    step: { took: lengths(meter, "remand.step.duration", "How long steps of the engine took"), count: null },
    escalation: {
      took: lengths(meter, "remand.escalation.duration", "How long questions waited for a person"),
      count: count(meter, "remand.escalations", "Questions that people answered, by reason", "{escalation}"),
    },
    story: {
      took: lengths(meter, "remand.story.duration", "How long stories took from their start to their end"),
      count: count(meter, "remand.stories.ended", "Stories that ended, by outcome", "{story}"),
    },
    "send-back": {
      took: null,
      count: count(meter, "remand.reworks", "Times that work was sent back, by gate and cause", "{rework}"),
    },
  };
}

const count = (meter: Meter, name: string, description: string, unit: string): Counter =>
  meter.createCounter(name, { description, unit });

const lengths = (meter: Meter, name: string, description: string): Histogram =>
  meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } });

/** Registers gauges that are computed only when a collector reads them. */
function observe(meter: Meter, { state, tally }: RunGauges): () => void {
  const gauge = (name: string, description: string, unit: string) =>
    meter.createObservableGauge(name, { description, unit });
  const open = gauge("remand.stories.open", "Stories that have not ended", "{story}");
  const waiting = gauge("remand.stories.waiting_for_person", "Stories that wait for a person", "{story}");
  const depth = gauge("remand.queue.depth", "Stories that something could be done for now, by lane", "{story}");
  const instruments = [open, waiting, depth];
  const look: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    const now = state();
    if (now === null) return;
    result.observe(open, tally.open());
    result.observe(waiting, tally.waitingForPerson());
    for (const lane of LANES) result.observe(depth, size(now.lanes[lane]), { "remand.lane": lane });
  };
  meter.addBatchObservableCallback(look, instruments);
  return () => meter.removeBatchObservableCallback(look, instruments);
}

/** Returns the attributes with few values. Numbers are measurements, never a dimension. */
function dimensions(attributes: Attributes): OtelAttributes {
  return Object.fromEntries(
    Object.entries(ownRedactor().texts(attributes)).filter(([, value]) => typeof value !== "number"),
  );
}

/** From tenths of a second to days: checks, agents, people. */
const SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 14_400, 86_400, 604_800];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/** Counts the stories that are open and that wait for a person: once in full, then by each change. */
export interface Tally {
  readonly open: () => number;
  readonly waitingForPerson: () => number;
  count(state: RunState): void;
  moved(before: StoryState | undefined, after: StoryState): void;
}

export function createTally(): Tally {
  let open = 0;
  let waitingForPerson = 0;
  const add = (story: StoryState | undefined, by: 1 | -1): void => {
    if (story === undefined || story.ending !== null) return;
    open += by;
    if (story.escalation !== null) waitingForPerson += by;
  };
  return {
    open: () => open,
    waitingForPerson: () => waitingForPerson,
    count: (state) => {
      open = 0;
      waitingForPerson = 0;
      for (const [, story] of entries(state.stories)) add(story, 1);
    },
    moved: (before, after) => {
      add(before, -1);
      add(after, 1);
    },
  };
}
