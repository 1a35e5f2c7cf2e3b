import type { AnswerVerb, Escalation } from "../../core/stories/escalation.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { LostJournal } from "../../core/events/journal-anchor.ts";
import type { Fingerprint } from "../../core/events/ids.ts";
import type { BoardCard } from "./board.ts";
import type { BoardGroup, Column } from "./columns.ts";
import type { InboxItem } from "../answers/inbox.ts";
import type { LikelyAnswer } from "../answers/likely-answers.ts";
import type { RunCounts } from "../run/run-summary.ts";
import type { NowView } from "./now.ts";
import type { OutputPage } from "../../core/events/output-line.ts";
import type { StoryDocument, Round } from "../story/story-document.ts";
import type { StoryLine } from "../story/story-lines.ts";

/** The documents of the dashboard's server, one type per address. The pages are built against these types. */
export interface HelloDocument {
  readonly project: string;
  readonly version: string;
  readonly readOnly: boolean;
  /** The person in whose name answers are given. */
  readonly by: string;
  /** Whether anything ever ran here. */
  readonly hasJournal: boolean;
  readonly position: number;
  /** The number of questions that wait for a person. */
  readonly questions: number;
  readonly stories: number;
  /** The number of stories that a person has paused. */
  readonly paused: number;
  readonly engine: EngineDocument;
  readonly spentUsd: number;
  readonly costUnknown: boolean;
  readonly limitUsd: number | null;
}

export interface EngineDocument {
  /**
   * `gone`: the engine ended without a word, and what it had started is not worked on. `fleet`: workers on other
   * machines do the work; what is known about them is in their database.
   */
  readonly state: "running" | "stopped" | "gone" | "fleet";
  /** When the engine started; `null` where none is running. */
  readonly since: number | null;
  readonly pid: number | null;
  /** Running agents, and how many may run at once. */
  readonly busy: number;
  readonly most: number | null;
}

/** The document of the home page. */
export interface NowDocument extends NowView {
  readonly position: number;
  readonly hasJournal: boolean;
  /** The newest line that each story's agent or check printed, by story. */
  readonly lastLines: Readonly<Record<string, string>>;
  /** Answers that can still be undone. */
  readonly answered: readonly OpenAnswer[];
}

/** One question with everything that a person needs to answer it. */
export interface QuestionDocument extends InboxEntry {
  readonly position: number;
  readonly likely: readonly LikelyAnswer[];
  /** The code around the first open finding; `null` where no line is known, or its file is missing. */
  readonly code: CodeAround | null;
  readonly tries: readonly TryRow[];
}

export interface CodeAround {
  readonly file: string;
  /** The line of the finding. */
  readonly line: number;
  readonly title: string;
  readonly first: number;
  readonly lines: readonly string[];
}

/** One attempt in the table of a question. */
export interface TryRow {
  readonly attempt: number;
  readonly said: string;
  readonly changed: readonly string[];
  /** Why the attempt was rejected: the titles of its findings. */
  readonly failed: readonly string[];
  readonly costUsd: number | null;
}

/** The output of a story. */
export interface OutputDocument extends OutputPage {
  readonly story: string;
}

export interface StoriesPausedDocument {
  readonly stories: readonly string[];
  readonly isHeld: boolean;
  readonly by: string;
}

export interface BoardDocument {
  readonly position: number;
  readonly hasJournal: boolean;
  readonly counts: RunCounts;
  readonly spentUsd: number;
  readonly costUnknown: boolean;
  readonly limitUsd: number | null;
  /** How many stories match the query. */
  readonly matching: number;
  /** How many stories of each column match. */
  readonly columns: readonly { readonly name: Column; readonly total: number }[];
  readonly groups: readonly BoardColumn[];
}

export interface BoardColumn {
  readonly name: BoardGroup;
  readonly total: number;
  readonly cards: readonly BoardCard[];
}

export interface ListDocument {
  readonly position: number;
  readonly matching: number;
  readonly offset: number;
  readonly cards: readonly BoardCard[];
}

export interface StoryPageDocument extends StoryDocument {
  readonly position: number;
  /** The folder of the story's files, if it exists. */
  readonly place: string | null;
  readonly isHeld: boolean;
  /** Whether a command of the story is running. */
  readonly isRunning: boolean;
  /** The latest answer, while it can be undone. */
  readonly answered: OpenAnswer | null;
  /** Findings that can still be disputed. */
  readonly disputable: readonly Fingerprint[];
  /** The answers to its open question, the likely ones first. */
  readonly likely: readonly LikelyAnswer[];
  readonly rounds: readonly Round[];
  /** Where the work was delivered: a branch, a commit, or the address of a pull request. */
  readonly delivered: string | null;
  /** Whether a person may report this accepted work as merged or proposed. */
  readonly canDeliver: boolean;
  /** Whether a person may send this accepted work back. */
  readonly canReopen: boolean;
}

export interface LinesDocument {
  readonly lines: readonly StoryLine[];
  /** The position from which the next page continues. */
  readonly position: number;
  readonly more: boolean;
  /** How many lines came before these, for a request of the last lines. */
  readonly earlier: number;
}

export interface InboxDocument {
  readonly position: number;
  readonly items: readonly InboxEntry[];
  /** Answers that can still be undone. */
  readonly answered: readonly OpenAnswer[];
}

export interface OpenAnswer {
  readonly story: string;
  readonly title: string;
  readonly verb: AnswerVerb;
  readonly by: string;
  readonly message: string;
  readonly at: number;
}

export interface InboxEntry extends InboxItem {
  readonly escalation: Escalation;
  readonly askedAt: number | null;
  readonly findings: readonly Finding[];
}

export interface TrailDocument {
  readonly lines: readonly StoryLine[];
  readonly head: { readonly position: number; readonly hash: string } | null;
  /** The position of the oldest line on this page; the next page ends before it. */
  readonly before: number;
  readonly more: boolean;
}

export interface VerifyDocument {
  readonly ok: boolean;
  readonly position: number;
  readonly problem: string | null;
  readonly hash: string | null;
  /** Further problems, after `problem`. */
  readonly more?: readonly string[];
  /** How many pieces of evidence and receipts were checked; absent if the check did not get that far. */
  readonly evidence?: number;
  readonly receipts?: number;
  /** The journal that this one replaced, because it was lost or given up. */
  readonly replaced?: JournalReplacement;
}

export interface JournalReplacement {
  readonly lost: LostJournal;
  readonly by: string;
  readonly at: number;
}

export interface HealthDocument {
  readonly probes: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly detail: string;
    readonly fix: string;
  }[];
  /** The effective settings, with the origin of each. */
  readonly config: readonly SettingRow[];
}

export interface SettingRow {
  readonly path: string;
  readonly value: string;
  readonly origin: string;
  /** Whether a person set the value: in a file, or on the command line. */
  readonly isOwn: boolean;
}

export interface EvidenceDocument {
  readonly id: string;
  readonly text: string;
  readonly leftOut: number;
}

/** What the stream sends for each line of the journal; its id is the line's position. */
export interface StreamedLine {
  readonly position: number;
  readonly at: number;
  readonly story: string | null;
  readonly type: string;
  readonly words: string;
}

export interface AnsweredDocument {
  readonly story: string | null;
  readonly verb: string;
  readonly by: string;
  /** The other stories that got the same answer. */
  readonly also?: readonly string[];
}

export interface HeldDocument {
  readonly story: string;
  readonly isHeld: boolean;
  readonly by: string;
}

/** A story's file, for an editor. */
export interface StoryFileDocument {
  readonly file: string;
  readonly text: string;
}

export interface StoryEditedDocument {
  readonly file: string;
  readonly problems: readonly {
    readonly line: number;
    readonly severity: "error" | "warning";
    readonly message: string;
    readonly hint: string;
  }[];
  readonly isWritten: boolean;
}

export interface ErrorDocument {
  readonly error: string;
  readonly hint: string;
}
