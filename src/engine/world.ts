import type { StoryId } from "../core/events/ids.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { AgentRuns, RoleRegistry } from "../ports/agent.ts";
import type { Adjudicator, Gate } from "../ports/gate.ts";
import type { Clock } from "../ports/clock.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Forge } from "../ports/forge.ts";
import type { EngineJournal, Watcher, Receipts } from "../ports/journal.ts";
import type { ExperimentRunner, Trial } from "../ports/experiment-runner.ts";
import type { Outbox } from "../ports/notifier.ts";
import type { Queue } from "../ports/queue.ts";
import type { StoryPages } from "../ports/files.ts";
import type { Workspace, Integration } from "../ports/workspace.ts";

export interface BlameSearch {
  readonly experimentRunner: ExperimentRunner;
  /** Runs checks to prove a cause; `null`: blame only reads. */
  readonly trial: Trial | null;
  /** `suites`: the time limit in multiples of the failed check's duration, because an agent waits for the brief. */
  readonly limits: { readonly runs: number; readonly timeMs: number; readonly suites: number };
  /** Names of environments other than this machine: what failed there cannot be run again here. */
  readonly environments: readonly string[];
}

interface FixControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
}

/** Everything outside the engine that it uses. `main` builds the real world, the simulator a simulated one. */
export interface EngineWorld {
  /** The checkout of the run. */
  readonly root: string;
  /** The name of this worker if there are several: conversations with agents stay on its machine. */
  readonly host?: string;
  readonly journal: EngineJournal;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly workspace: Workspace;
  readonly pages: StoryPages;
  readonly evidence: Evidence;
  readonly outbox: Outbox;
  /** Signs acceptances; absent if they are not signed. */
  readonly receipts?: Receipts;
  /** Agents' programs that outlive this engine; absent: all of them end with it. */
  readonly agentRuns?: AgentRuns;
  readonly gates: ReadonlyMap<GateName, Gate>;
  /** How long a story waits for the checks of its base before the first attempt; absent: until they end. */
  readonly baseWaitMs?: number;
  readonly roleRegistry: RoleRegistry;
  readonly adjudicator: Adjudicator;
  /** Merges branches with their target; `null` if the work is done in a person's own checkout. */
  readonly integration: Integration | null;
  readonly forge: Forge | null;
  /** For pull requests without a forge; absent: their texts are stored as evidence, and nothing is pushed. */
  readonly pullRequestDraft?: {
    hasRemote(): Promise<boolean>;
    /** Writes the text to a file that a person can pass to another program, and returns its path. */
    write(story: StoryId, text: string): Promise<string>;
  };
  /** Finds the change that caused a failure; `null` if blame is off. */
  readonly blameSearch: BlameSearch | null;
  /** Fixes formatting and lint; `null` if no command does that. */
  readonly fixLint: ((path: string, control: FixControl) => Promise<void>) | null;
  readonly watcher: Watcher;
  /** Returns an unguessable word for the fences of one brief. */
  nonce(): string;
  /** The sandbox of agents, for the journal. */
  readonly isolation?: string;
}
