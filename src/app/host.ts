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

/** How a command reaches the engine and its journal. `main` hands in the real one, tests their own. */
export interface Host {
  /** The same, but `glance`, `closeUp`, `look`, `tell`, `serve` and `probe` are about the journal in this database: a fleet's. */
  at(db: string): Host;
  /** A text as it may leave the process: without secrets. What is printed has passed it; what is written to a file must. */
  clean(text: string): string;
  /** The same, for a caller who is identified by the token in this file. */
  withTokenFile(file: string): Host;
  /**
   * How the stories stand now, in outline; `null` where nothing ever ran. It reads as little as it can: with `only`,
   * what it takes to tell of these, or of the open ones where very many have ended.
   */
  readOutline(root: string, only?: readonly StoryId[] | "open"): Promise<RunOutline | null>;
  /**
   * Some stories as they are now, with their lines: those that are named, or those that ask a person. Of the others it
   * reads as little as `glance`. `null` where nothing ever ran. Close it.
   */
  readStories(root: string, of: readonly StoryId[] | "asking"): Promise<StoriesView | null>;
  /**
   * What is wrong with the checkout's journal, by what the clone remembers of it; `null`: nothing that shows. `chain`:
   * also checks its lines, unless nothing but Remand has written to the file.
   */
  journalTrouble(root: string, chain: boolean): Promise<JournalTrouble | null>;
  /** What there is now, without owning anything; `null` where nothing ever ran. Close it. */
  openView(root: string): Promise<JournalView | null>;
  /** What agents and checks print, while it is kept; `null` for a fleet, whose workers keep it. */
  output(root: string): Promise<OutputReader | null>;
  /** Checks every line of the journal, and what is remembered of it elsewhere; `null` where nothing ever ran. */
  verify(root: string, onProgress: VerifyProgress): Promise<VerifyDocument | null>;
  /** Says of commits whether receipts hold for them, by the repository and public keys alone. */
  verifyCommits(root: string, plan: VerifyPlan): Promise<CommitsDocument>;
  /** The user's public keys, the newest last; `rotate`: after making a new one. */
  receiptKeys(root: string, rotate: boolean): Promise<readonly ReceiptKey[]>;
  /** The receipts of this checkout's journal as they are kept, by the name of a file for each. */
  receiptFiles(root: string): Promise<ReadonlyMap<string, string>>;
  /** Says something to the journal from outside of the engine, which notices. Throws where nothing ever ran. */
  appendEvents(root: string, stream: StoryId | null, events: readonly Event[]): Promise<void>;
  /** The same for many stories: the journal is opened and folded once. */
  appendEach(root: string, streams: readonly StreamEvents[]): Promise<void>;
  /** Makes the user's token, or replaces it. Only its hash is kept, so an earlier one cannot be shown: `null`. */
  makeToken(root: string, rotate: boolean): Promise<{ readonly token: string | null; readonly madeAt: number }>;
  /** Becomes the one engine of this checkout. Throws `journal-locked`, naming the holder, where there is one. */
  openEngine(root: string, plan: RunPlan): Promise<EngineSession>;
  /** A worker's own clone of a project; what it needs is fetched, and the folder is locked meanwhile. */
  clone(plan: ClonePlan): Promise<WorkerClone>;
  /** Becomes one of the workers of a fleet, in its clone. */
  work(root: string, plan: WorkPlan): Promise<RunningWorker>;
  /** Looks whether the checks can run; nothing is journalled. */
  preflight(root: string, plan: PreflightPlan): Promise<Preflight>;
  /** Has gates judge the checkout, or one of its commits, by themselves: no agent works, and nothing is journalled. */
  gate(root: string, plan: GatePlan): Promise<GateReport>;
  /** Says which part of a change broke a check. The checkout is only read. */
  blame(root: string, plan: BlamePlan): Promise<BlameReport>;
  /** May an agent that works in the checkout stop? Its client asks; the record is kept per conversation. */
  stop(root: string, plan: StopPlan): Promise<StopAnswer>;
  /** Offers tools on the standard input and output, until the input ends. */
  offer(tools: readonly Tool[], about: { readonly version: string; readonly signal: AbortSignal }): Promise<void>;
  /** Checks the environment: git, Node, the journal's location, and whether each program can be started. */
  probe(
    root: string,
    programs: readonly (string | AgentSpec)[],
    /** The commands of the checks, and the names of the variables that they may see. */
    checks: {
      readonly commands: readonly string[];
      readonly env: readonly string[];
      /** Absent: it is not looked at. */
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
  /** Calls back when a file of the folder was made, changed or taken away. Returns how to stop it. */
  watchFolder(folder: string, changed: () => void): () => void;
  /** As git signs commits here. */
  userName(root: string): Promise<string | null>;
  /** A new git repository in a new temporary folder with these files committed (path below it → text); says where. */
  demoRepository(files: Readonly<Record<string, string>>): Promise<string>;
}

export type { Probe };

export interface StoriesView extends StoryDetails {
  /** Of one story, from the first. */
  lines(story: StoryId): AsyncIterable<StoredEvent>;
  close(): Promise<void>;
}

export interface JournalView {
  readonly state: RunState & WithEngine;
  /** What the state comes from, without what is known of the engine. */
  readonly folded: FoldedJournal;
  readonly journal: Pick<Journal, "head" | "read" | "watch">;
  readonly evidence: Evidence;
  /** After a position; of one story alone, where it is named. */
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
  /** Agents that the caller brings, by role: they play it whatever the config says. */
  readonly agents?: Readonly<Record<string, Agent>>;
  readonly watcher: Watcher;
  /** Start although a check cannot run. */
  readonly force?: boolean;
  /** The files of hidden checks: those of a folder, none, or (absent) those that are kept for the project. */
  readonly hidden?: { readonly folder: string } | "none";
  /**
   * When a new journal may begin in the place of another: where that is missing, or whatever is wrong with it, because
   * a person asked. Without it, what does not continue its own past is refused.
   */
  readonly newJournal?: { readonly when: "missing" | "asked"; readonly by: string };
  /** Something about the checkout that a person should know, and that stops nothing. */
  onNotice?(text: string): void;
}

export interface ClonePlan {
  readonly remote: string;
  readonly folder: string;
  /** The branch that work is for; `null`: the remote's own. */
  readonly branch: string | null;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

export interface WorkerClone {
  readonly root: string;
  /** Brings it to where the branch is now; says whether that has moved. */
  follow(): Promise<boolean>;
  close(): Promise<void>;
}

/** The stories and the rules of a branch. */
export type BranchUpdate = Pick<RunPlan, "config" | "policy" | "stories">;

export interface WorkPlan {
  /** The address of the database, with its login. */
  readonly db: string;
  /** Stays the same when the worker is started again in the same clone. */
  readonly name: string;
  /** What the workers of one journal call their project. */
  readonly project: string;
  readonly version: string;
  readonly run: RunPlan;
  /** What is on the branch now. `same`: as it was last asked. `broken`: something cannot be read, and was told. */
  reread(): Promise<BranchUpdate | "same" | "broken">;
  /** How many jobs of a lane this worker takes at once, where that is less than all workers may. */
  readonly ownLimits: Readonly<Partial<Record<Lane, number>>>;
  /** How often each lane is asked for a job. */
  readonly pollMs: number;
  /** How often the leading worker looks for new stories on the branch. */
  readonly followMs: number;
  /** How long it may be silent before others take its place. */
  readonly leaseMs: number;
  /** How long a database that is not there yet is waited for. */
  readonly openPatienceMs: number;
  readonly health: { readonly host: string; readonly port: number } | null;
}

export interface RunningWorker {
  readonly healthUrl: string | null;
  state(): RunState;
  /** Resolves when another worker has taken its place, with words for it. */
  readonly lost: Promise<string>;
  /** Resolves when no worker has anything left to do. */
  settled(): Promise<void>;
  /** Takes no more jobs; those that run get so long, then they are broken off and handed over. */
  drain(patienceMs: number): Promise<void>;
  /** While it drains: breaks off the jobs that still run. */
  endJobs(): void;
  /** Ends what runs without reporting it: another worker has taken over, and reports would be refused. */
  abandon(): Promise<void>;
}

export interface GatePlan {
  readonly config: Config;
  readonly policy: Policy;
  /** Whose criteria hold; `null` where the work belongs to no story. */
  readonly story: Story | null;
  /** The gates, in the order in which they judge. */
  readonly gates: readonly GateName[];
  /** Were they named? Then one that cannot judge here is an error, else it is left out, and said to be. */
  readonly isNamed: boolean;
  /** Ask agents even where a gate before them did not pass. */
  readonly all: boolean;
  /** The commit to judge; `null`: the files as they are. */
  readonly at: string | null;
  /** What to compare with; `null`: found by itself. */
  readonly base: string | null;
  /** Existing tests that the work may change, besides those that the story names: names, files or patterns. */
  readonly testsMayChange?: readonly string[];
  /** The number of the pull request that is judged: its code owners' approvals are licenses. */
  readonly pullRequest?: number;
  readonly agents?: Readonly<Record<string, Agent>>;
  /** An agent asks: hidden checks are not run for it. */
  readonly isForAgent?: boolean;
  readonly signal: AbortSignal;
  onOutput(gate: GateName, line: string): void;
  onNotice(text: string): void;
}

export interface ServePlan {
  /** 0: any that is free. */
  readonly port: number;
  readonly readOnly: boolean;
  /** Whose word an answer is. */
  readonly by: string;
  readonly version: string;
  /** What the config says is secret: patterns. */
  readonly redact: readonly string[];
  /** Who is reminded of unanswered questions. */
  readonly notify?: Pick<Config, "notify" | "env">;
  onNotice?(text: string): void;
  /** The folder of the built pages, where it is not the program's own. */
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
  /** Opens it in the person's browser; `false` where there is none to ask. */
  open(): Promise<boolean>;
  close(): Promise<void>;
}

export interface EngineSession {
  readonly workspace: Workspace;
  readonly evidence: Evidence;
  state(): RunState;
  /** How much was under way when the engine before this one went away. */
  readonly interrupted: number;
  /** Works until nothing is left to do, or until the signal says stop. */
  drive(signal: AbortSignal): Promise<RunState>;
  tell(stream: StoryId | null, events: readonly Event[]): Promise<void>;
  /** Puts stories into the journal that are new, or whose files say something else than before; says whether any was. */
  registerStories(stories: readonly Story[]): Promise<boolean>;
  /** Calls back when another process has said something. Returns how to stop it. */
  onMessage(heard: () => void): () => void;
  /** `in-place` only: brings the checkout back to how it was before the first attempt of the story. */
  undo(story: StoryId): Promise<readonly string[]>;
  close(): Promise<void>;
}
