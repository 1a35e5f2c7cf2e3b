import type { RunState } from "../../domain/run-state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Journal } from "../../ports/journal.ts";
import type { Roster } from "../../ports/roster.ts";
import type { Watcher } from "../../ports/watcher.ts";
import { observedRoster } from "./agent-calls.ts";
import { flush } from "./flush.ts";
import { createLineTeller } from "./line-teller.ts";
import type { OtelApi } from "./load-api.ts";
import { createMeasures } from "./measures.ts";
import { createOwnLines } from "./own-lines.ts";
import { createTally } from "./tally.ts";
import { createTraces } from "./traces.ts";

/**
 * Traces and metrics of what this process does. Every worker folds the same journal, so what each of them tells is what
 * it wrote itself: the journal that the engine writes to must be the one from here.
 */
export interface Telemetry {
  /** The journal that the engine is to write to. */
  journal<J extends Pick<Journal, "append">>(journal: J): J;
  /** Sees what the given one sees. */
  watcher(watcher: Watcher): Watcher;
  roster(roster: Roster): Roster;
  /** How the run stands when the ledger has been opened: what others began may be ours to end. */
  resume(state: RunState): void;
  /** Jobs were taken over from a worker that is gone. */
  tookOver(jobs: number): void;
  /** Has what was told sent, as far as the SDK can, and tells no more. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly api: OtelApi;
  readonly version: string;
  readonly project: string;
  /** The worker's name; `null` where there is one engine only. */
  readonly worker: string | null;
  readonly clock: Clock;
  /** The hash of the journal's first line, which no two journals share; `null` while it has none. */
  readonly identity: string | null;
}

export function createTelemetry({ api, version, project, worker, clock, identity }: TelemetryOptions): Telemetry {
  let mark = identity;
  let latest: RunState | null = null;
  const tally = createTally();
  const own = createOwnLines();
  const always = { "remand.project": project, ...(worker === null ? {} : { "remand.worker": worker }) };
  const traces = createTraces({ api, version, always, identity: () => mark });
  const measures = createMeasures(api, version, { state: () => latest, tally });
  const teller = createLineTeller({ own, traces, measures, tally });
  return {
    journal: (journal) => own.around(journal),
    watcher: (watcher) => ({
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (lines, state) => {
        mark ??= lines.find(({ position }) => position === 1)?.hash ?? null;
        latest = state;
        teller.see(lines, state);
        watcher.onLines(lines, state);
      },
    }),
    roster: (roster) => observedRoster(roster, { api, clock, traces, measures }),
    resume: (state) => {
      latest = state;
      teller.resume(state);
      tally.count(state);
    },
    tookOver: (jobs) => measures.tookOver(jobs),
    close: async () => {
      measures.close();
      await flush(api);
    },
  };
}
