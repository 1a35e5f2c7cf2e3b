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

/** What the server of the dashboard says, one type for each address: its pages are built against these. */
export interface HelloDocument {
  readonly project: string;
  readonly version: string;
  readonly readOnly: boolean;
  /** Whose word an answer is. */
  readonly by: string;
  /** Did anything ever run here? */
  readonly hasJournal: boolean;
  readonly position: number;
  /** Questions that wait for a person. */
  readonly questions: number;
  readonly stories: number;
  /** Stories that a person has paused. */
  readonly paused: number;
  readonly engine: EngineDocument;
  readonly spentUsd: number;
  readonly costUnknown: boolean;
  readonly limitUsd: number | null;
}

export interface EngineDocument {
  /**
   * `gone`: it ended without a word, and what it had started is not worked on. `fleet`: workers elsewhere do the work,
   * and what is known of them is in their database.
   */
  readonly state: "running" | "stopped" | "gone" | "fleet";
  /** When it was started; `null` where none works. */
  readonly since: number | null;
  readonly pid: number | null;
  /** Agents that work now, and how many may work at once. */
  readonly busy: number;
  readonly most: number | null;
}

/** What the home page shows. */
export interface NowDocument extends NowView {
  readonly position: number;
  readonly hasJournal: boolean;
  /** The newest line that each story's agent or check printed, by story. */
  readonly lastLines: Readonly<Record<string, string>>;
  /** What was answered and can still be undone. */
  readonly answered: readonly OpenAnswer[];
}

/** One question with everything that a person needs to answer it. */
export interface QuestionDocument extends InboxEntry {
  readonly position: number;
  readonly likely: readonly LikelyAnswer[];
  /** The code around the first open finding; `null` where no line is known, or its file is not there. */
  readonly code: CodeAround | null;
  readonly tries: readonly TryRow[];
}

export interface CodeAround {
  readonly file: string;
  /** The line that the finding names. */
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
  /** Why it was rejected, by the titles of its findings. */
  readonly failed: readonly string[];
  readonly costUsd: number | null;
}

/** What is printed for a story. */
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
  /** How many stories match what was asked for. */
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
  /** Where its files are, if they are there. */
  readonly place: string | null;
  readonly isHeld: boolean;
  /** Something runs for it now. */
  readonly isRunning: boolean;
  /** What was answered and can still be taken back. */
  readonly answered: OpenAnswer | null;
  /** Findings that can still be disputed. */
  readonly disputable: readonly Fingerprint[];
  /** The answers to its open question, the likely ones first. */
  readonly likely: readonly LikelyAnswer[];
  readonly rounds: readonly Round[];
  /** Where the work was delivered: a branch, a commit, or the address of a pull request. */
  readonly delivered: string | null;
  /** Accepted work on its branch that a person may have merged, or proposed. */
  readonly canDeliver: boolean;
  /** Accepted work that a person may send back. */
  readonly canReopen: boolean;
}

export interface LinesDocument {
  readonly lines: readonly StoryLine[];
  /** Go on from here. */
  readonly position: number;
  readonly more: boolean;
  /** So many came before the last ones, where those were asked for. */
  readonly earlier: number;
}

export interface InboxDocument {
  readonly position: number;
  readonly items: readonly InboxEntry[];
  /** What was answered and can still be taken back. */
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
  /** The oldest line that was looked at: older ones come before this place. */
  readonly before: number;
  readonly more: boolean;
}

export interface VerifyDocument {
  readonly ok: boolean;
  readonly position: number;
  readonly problem: string | null;
  readonly hash: string | null;
  /** What else is wrong, after `problem`. */
  readonly more?: readonly string[];
  /** How many pieces of evidence and receipts were checked; absent where it did not come to that. */
  readonly evidence?: number;
  readonly receipts?: number;
  /** The journal took the place of another, which was lost or given up. */
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
  /** The settings that hold, with where each came from. */
  readonly config: readonly SettingRow[];
}

export interface SettingRow {
  readonly path: string;
  readonly value: string;
  readonly origin: string;
  /** A person set it: in a file, or on the command line. */
  readonly isOwn: boolean;
}

export interface EvidenceDocument {
  readonly id: string;
  readonly text: string;
  readonly leftOut: number;
}

/** What the stream sends for each line of the journal; its id is the line's place. */
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
