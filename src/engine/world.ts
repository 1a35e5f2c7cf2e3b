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
  /** Proves by running; `null`: only by reading. */
  readonly trial: Trial | null;
  /** `suites`: the most time in lengths of the failed check, because an agent waits for the brief. */
  readonly limits: { readonly runs: number; readonly timeMs: number; readonly suites: number };
  /** Names of environments that are not this machine: what failed there cannot be run again here. */
  readonly environments: readonly string[];
}

interface FixControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
}

/** Everything outside that the engine uses. `main` makes the real one, the simulator a made-up one. */
export interface EngineWorld {
  /** The checkout the run is about. */
  readonly root: string;
  /** The name of this worker, where there are several: conversations with agents stay on its machine. */
  readonly host?: string;
  readonly journal: EngineJournal;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly workspace: Workspace;
  readonly pages: StoryPages;
  readonly evidence: Evidence;
  readonly outbox: Outbox;
  /** Signs what is accepted; absent where nothing is. */
  readonly receipts?: Receipts;
  /** The agents' programs that outlive this engine; absent: all of them end with it. */
  readonly agentRuns?: AgentRuns;
  readonly gates: ReadonlyMap<GateName, Gate>;
  /** How long a story waits for the checks of its base before the first attempt; absent: until they end. */
  readonly baseWaitMs?: number;
  readonly roleRegistry: RoleRegistry;
  readonly adjudicator: Adjudicator;
  /** How branches come together; `null` where the work is done in a person's own checkout. */
  readonly integration: Integration | null;
  readonly forge: Forge | null;
  /** For pull requests without a forge; absent: their texts are evidence, and nothing is pushed. */
  readonly pullRequestDraft?: {
    hasRemote(): Promise<boolean>;
    /** Keeps the text where a person can hand it to another program, and says where. */
    write(story: StoryId, text: string): Promise<string>;
  };
  /** Finds the change that caused a failure; `null` where blame is off. */
  readonly blameSearch: BlameSearch | null;
  /** Puts formatting and lint right; `null` where no command does that. */
  readonly fixLint: ((path: string, control: FixControl) => Promise<void>) | null;
  readonly watcher: Watcher;
  /** An unguessable word for the fences of one brief. */
  nonce(): string;
  /** What keeps agents from the rest of the machine, for the record. */
  readonly isolation?: string;
}
