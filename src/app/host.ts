import type { Config } from "../config/config.ts";
import type { BlameReport } from "../core/blame/blame.ts";
import type { Event } from "../core/events/event.ts";
import type { CommitsDocument, ReceiptKey } from "../core/events/receipt.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { GateReport } from "../core/gates/gate-report.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Lane } from "../core/stories/command.ts";
import type { Policy } from "../core/events/policy.ts";
import type { RunOutline, RunState, WithEngine } from "../core/stories/run-state.ts";
import type { Story } from "../core/stories/story.ts";
import type { FoldedJournal } from "../engine/fold-journal.ts";
import type { StoryDetails } from "../engine/fold-outlines.ts";
import type { Agent, Tool } from "../ports/agent.ts";
import type { Evidence, OutputReader } from "../ports/evidence.ts";
import type { StoryEditor } from "../ports/files.ts";
import type { Journal, StoredEvent, StreamEvents, Watcher } from "../ports/journal.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { HealthDocument, VerifyDocument } from "../views/board/dashboard.ts";
import type { AgentSpec } from "./agent-spec.ts";
import type {
  Preflight,
  PreflightPlan,
  Probe,
  BlamePlan,
  HidePlan,
  HideReport,
  JournalTrouble,
  MigratePlan,
  MigrationResult,
  RehearsalReport,
  RehearsePlan,
  VerifyPlan,
  VerifyProgress,
  StopAnswer,
  StopPlan,
} from "./host-plans.ts";

/** How a command reaches the engine and its journal. `main` passes the real implementation, tests their own. */
export interface Host {
  /** The same host for a fleet: what reads or appends to the journal uses the one in this database. */
  at(db: string): Host;
  /** Removes secrets from a text. What is printed passes through it already; callers that write files must call it. */
  clean(text: string): string;
  /** The same host, for a caller who is identified by the token in this file. */
  withTokenFile(file: string): Host;
  /**
   * Reads the current outlines of the stories; `null` where nothing ever ran. Reads as little as possible: with `only`,
   * what is needed for these stories, or for the open ones if very many have ended.
   */
  readOutline(root: string, only?: readonly StoryId[] | "open"): Promise<RunOutline | null>;
  /**
   * Reads some stories with their journal lines: those that are named, or those that wait for a person. Reads the
   * others only as outlines, like `readOutline`. `null` where nothing ever ran. The caller must close the view.
   */
  readStories(root: string, of: readonly StoryId[] | "asking"): Promise<StoriesView | null>;
  /**
   * Compares the checkout's journal with what the clone remembers of it; `null`: no problem is visible. `chain`: also
   * checks the hashes of its lines, unless only Remand has written to the file.
   */
  journalTrouble(root: string, chain: boolean): Promise<JournalTrouble | null>;
  /** Opens the journal for reading, without a lock; `null` where nothing ever ran. The caller must close the view. */
  openView(root: string): Promise<JournalView | null>;
  /** The live output of agents and checks, as far as it is kept; `null` for a fleet, whose workers keep it. */
  output(root: string): Promise<OutputReader | null>;
  /** Checks every line of the journal, and the copies of its state elsewhere; `null` where nothing ever ran. */
  verify(root: string, onProgress: VerifyProgress): Promise<VerifyDocument | null>;
  /** Reports whether commits have valid receipts, using only the repository and public keys. */
  verifyCommits(root: string, plan: VerifyPlan): Promise<CommitsDocument>;
  /** The user's public keys, the newest last; `rotate`: after making a new key. */
  receiptKeys(root: string, rotate: boolean): Promise<readonly ReceiptKey[]>;
  /** The receipts of this checkout's journal as they are stored, by file name. */
  receiptFiles(root: string): Promise<ReadonlyMap<string, string>>;
  /** Appends events from outside of the engine, which is notified. Throws where nothing ever ran. */
  appendEvents(root: string, stream: StoryId | null, events: readonly Event[]): Promise<void>;
  /** Does the same for many stories, but opens and folds the journal only once. */
  appendEach(root: string, streams: readonly StreamEvents[]): Promise<void>;
  /** Creates or replaces the user's token; `null`: one exists, and only its hash is stored, so it cannot be shown. */
  makeToken(root: string, rotate: boolean): Promise<{ readonly token: string | null; readonly madeAt: number }>;
  /** Becomes the one engine of this checkout. Throws `journal-locked`, naming the holder, if another engine runs. */
  openEngine(root: string, plan: RunPlan): Promise<EngineSession>;
  /** Prepares a worker's own clone of a project: fetches what is missing, and locks the folder until it is closed. */
  clone(plan: ClonePlan): Promise<WorkerClone>;
  /** Becomes one of the workers of a fleet, in its clone. */
  work(root: string, plan: WorkPlan): Promise<RunningWorker>;
  /** Tests whether the checks can run; appends nothing to the journal. */
  preflight(root: string, plan: PreflightPlan): Promise<Preflight>;
  /** Runs gates on the checkout, or on one of its commits: no agent works, and nothing is appended to the journal. */
  gate(root: string, plan: GatePlan): Promise<GateReport>;
  /** Reports which part of a change broke a check. The checkout is only read. */
  blame(root: string, plan: BlamePlan): Promise<BlameReport>;
  /** Decides whether an agent in the checkout may stop, when its client asks; keeps a record per conversation. */
  stop(root: string, plan: StopPlan): Promise<StopAnswer>;
  /** Offers MCP tools on the standard input and output, until the input ends. */
  offer(tools: readonly Tool[], about: { readonly version: string; readonly signal: AbortSignal }): Promise<void>;
  /** Checks the environment: git, Node, the journal's location, and whether each program can be started. */
  probe(
    root: string,
    programs: readonly (string | AgentSpec)[],
    /** The commands of the checks, and the names of the variables that they may see. */
    checks: {
      readonly commands: readonly string[];
      readonly env: readonly string[];
      /** Absent: these settings are not probed. */
      readonly config?: Pick<Config, "sandbox" | "env" | "gates">;
    },
  ): Promise<readonly Probe[]>;
  /** Copies files of the project to where no agent sees them, for hidden checks. */
  hide(root: string, plan: HidePlan): Promise<HideReport>;
  /** Shows the dashboard to this machine's browsers, until it is closed. */
  serve(root: string, plan: ServePlan): Promise<RunningServer>;
  /** Runs a command whose agents reach a scripted model instead of a provider. */
  rehearse(root: string, plan: RehearsePlan): Promise<RehearsalReport>;
  /** Sets up a fleet's database with its roles, and moves the checkout's journal there. */
  migrate(root: string, plan: MigratePlan): Promise<MigrationResult>;
  /** Calls back when a file of the folder was created, changed or deleted. Returns a function that stops watching. */
  watchFolder(folder: string, changed: () => void): () => void;
  /** The name with which git signs commits here. */
  userName(root: string): Promise<string | null>;
  /** Commits files (path below it → text) to a git repository in a new temporary folder. Returns the folder. */
  demoRepository(files: Readonly<Record<string, string>>): Promise<string>;
}

export type { Probe };

export interface StoriesView extends StoryDetails {
  /** The lines of one story, from the first. */
  lines(story: StoryId): AsyncIterable<StoredEvent>;
  close(): Promise<void>;
}

export interface JournalView {
  readonly state: RunState & WithEngine;
  /** The state that was folded, without what is known about the engine. */
  readonly folded: FoldedJournal;
  readonly journal: Pick<Journal, "head" | "read" | "watch">;
  readonly evidence: Evidence;
  /** The lines after a position; of one story alone if it is named. */
  lines(after: number, only?: StoryId): AsyncIterable<StoredEvent>;
  workspace(): Promise<Workspace>;
  close(): Promise<void>;
}

export interface RunPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** The stories to work on. Others that the journal knows are left as they are. */
  readonly stories: readonly Story[];
  /** `worktrees`: one per story. `in-place`: the checkout itself, for `loop`. */
  readonly place: "worktrees" | "in-place";
  /** For `loop`: the command that plays every role, with the user's own environment. */
  readonly agentCommand: readonly string[] | null;
  /** Agents that the caller passes, by role; they take precedence over the config. */
  readonly agents?: Readonly<Record<string, Agent>>;
  readonly watcher: Watcher;
  /** Start even if a check cannot run. */
  readonly force?: boolean;
  /** The files of hidden checks: those of a folder, none, or (absent) those that are stored for the project. */
  readonly hidden?: { readonly folder: string } | "none";
  /**
   * When a new journal may replace another: if that one is missing, or (`asked`) whatever is wrong with it, because a
   * person asked. Absent: a journal that does not continue its own past is refused.
   */
  readonly newJournal?: { readonly when: "missing" | "asked"; readonly by: string };
  /** Reports something about the checkout that a person should know and that stops nothing. */
  onNotice?(text: string): void;
}

export interface ClonePlan {
  readonly remote: string;
  readonly folder: string;
  /** The target branch; `null`: the remote's default. */
  readonly branch: string | null;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

export interface WorkerClone {
  readonly root: string;
  /** Updates the clone to the current commit of the branch; returns whether the branch has moved. */
  follow(): Promise<boolean>;
  close(): Promise<void>;
}

/** The stories and the rules of a branch. */
export type BranchUpdate = Pick<RunPlan, "config" | "policy" | "stories">;

export interface WorkPlan {
  /** The address of the database, with its login. */
  readonly db: string;
  /** The worker's name. It stays the same when the worker is restarted in the same clone. */
  readonly name: string;
  /** The name that the workers of one journal use for their project. */
  readonly project: string;
  readonly version: string;
  readonly run: RunPlan;
  /** Reads the branch. `same`: no change since the last call. `broken`: a file cannot be read, which was reported. */
  reread(): Promise<BranchUpdate | "same" | "broken">;
  /** How many jobs of each lane this worker takes at once, if that is less than all workers may take together. */
  readonly ownLimits: Readonly<Partial<Record<Lane, number>>>;
  /** How often each lane is asked for a job. */
  readonly pollMs: number;
  /** How often the leading worker looks for new stories on the branch. */
  readonly followMs: number;
  /** How long the worker may be silent before others replace it. */
  readonly leaseMs: number;
  /** How long the worker waits for a database that is not up yet. */
  readonly openPatienceMs: number;
  readonly health: { readonly host: string; readonly port: number } | null;
}

export interface RunningWorker {
  readonly healthUrl: string | null;
  state(): RunState;
  /** Resolves with a message when another worker has replaced this one. */
  readonly lost: Promise<string>;
  /** Resolves when no worker has anything left to do. */
  settled(): Promise<void>;
  /** Takes no more jobs. Running jobs get this much time; then they are stopped and handed over. */
  drain(patienceMs: number): Promise<void>;
  /** While it drains: stops the jobs that still run. */
  endJobs(): void;
  /** Ends running jobs without reporting them: another worker has taken over, so reports would be refused. */
  abandon(): Promise<void>;
}

export interface GatePlan {
  readonly config: Config;
  readonly policy: Policy;
  /** The story whose criteria apply; `null` where the work belongs to no story. */
  readonly story: Story | null;
  /** The gates, in the order in which they run. */
  readonly gates: readonly GateName[];
  /** Whether the gates were named: one that cannot run here is then an error, otherwise left out with a notice. */
  readonly isNamed: boolean;
  /** Ask agents even if a gate before them did not pass. */
  readonly all: boolean;
  /** The commit to judge; `null`: the files as they are. */
  readonly at: string | null;
  /** What to compare with; `null`: detected. */
  readonly base: string | null;
  /** Existing tests that the work may change, besides those that the story names: names, files or patterns. */
  readonly testsMayChange?: readonly string[];
  /** The number of the pull request that is judged: approvals by its code owners are licenses. */
  readonly pullRequest?: number;
  readonly agents?: Readonly<Record<string, Agent>>;
  /** Whether an agent asks: hidden checks are not run for it. */
  readonly isForAgent?: boolean;
  readonly signal: AbortSignal;
  onOutput(gate: GateName, line: string): void;
  onNotice(text: string): void;
}

export interface ServePlan {
  /** 0: any free port. */
  readonly port: number;
  readonly readOnly: boolean;
  /** The person in whose name answers are given. */
  readonly by: string;
  readonly version: string;
  /** The config's patterns of secrets. */
  readonly redact: readonly string[];
  /** Where reminders of unanswered questions are sent. */
  readonly notify?: Pick<Config, "notify" | "env">;
  onNotice?(text: string): void;
  /** The folder of the built pages, if not the program's own. */
  readonly assets?: string;
  readonly engineArgs?: readonly string[];
  health(): Promise<HealthDocument>;
  verify(): Promise<VerifyDocument | null>;
  readonly stories?: StoryEditor;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** Opens the dashboard in the person's browser; `false` where there is none. */
  open(): Promise<boolean>;
  close(): Promise<void>;
}

export interface EngineSession {
  readonly workspace: Workspace;
  readonly evidence: Evidence;
  state(): RunState;
  /** How much work was running when the previous engine stopped. */
  readonly interrupted: number;
  /** Works until nothing is left to do, or until `signal` is aborted. */
  drive(signal: AbortSignal): Promise<RunState>;
  append(stream: StoryId | null, events: readonly Event[]): Promise<void>;
  /** Adds new and edited stories to the journal; returns whether there were any. */
  registerStories(stories: readonly Story[]): Promise<boolean>;
  /** Calls back when another process has appended events. Returns a function that stops it. */
  onMessage(heard: () => void): () => void;
  /** `in-place` only: restores the checkout to how it was before the first attempt of the story. */
  undo(story: StoryId): Promise<readonly string[]>;
  close(): Promise<void>;
}
