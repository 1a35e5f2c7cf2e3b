import type { ContestedTest } from "../gates/contested-test.ts";
import type { Finding, TriedFinding } from "../gates/finding.ts";
import type { CheckRun } from "../gates/gate.ts";
import type { RoleName } from "../events/ids.ts";
import type { BriefEvidence, ReportWay } from "./brief.ts";
import type { Criterion, Phase, TddPhase } from "./story.ts";
import type { RemediationTry } from "./run-state.ts";
import type { Scope } from "./scope.ts";
import type { SignalRole } from "./reading.ts";

/*
 * What the writers of prompts are given: one shape per thing an agent can be asked. A brief is not here; it has its
 * own file, since it is what the whole loop is about.
 */

export interface PromptStory {
  readonly id: string;
  readonly title: string;
  readonly goal: string;
}

export interface VerificationCommand {
  readonly command: string;
  readonly environment: string;
}

/** A contested test as a reviewer is asked about it. */
export interface ShownContested extends ContestedTest {
  /** How its file changed from the base to the work; absent where it did not, or is not known. */
  readonly diff?: string;
}

/** S2.8: one critic, or the reviewer of one stage. */
export interface CriticRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly stage?: string;
  readonly filesModified: readonly string[];
  /** The developer's own message, as it came. */
  readonly readySignal: string;
  /** The project's rules for reviewers. */
  readonly practices: readonly string[];
  /** The diff, or the section of the story file that the phase wrote. */
  readonly work?: ShownWork;
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed, to be ruled on one by one. */
  readonly contested?: readonly ShownContested[];
  /** What changed since the reviewer passed it: the work is known, this is not. */
  readonly since?: ShownWork;
}

/** Work as it stands in a prompt: it may be cut there, so the way to see the whole of it goes with it. */
export interface ShownWork {
  readonly text: string;
  /** The command that shows all of it, in the folder where the reviewer is. */
  readonly wholeAt?: string;
}

/** S2.25: the auditor. */
export interface AuditorRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly criteria: readonly Criterion[];
  readonly filesModified: readonly string[];
  /** The critic's assessment, by aspect. */
  readonly quality: Readonly<Record<string, string>>;
  readonly criticSummary: string;
  readonly commands: readonly VerificationCommand[];
  /** What the engine ran on this very tree, and saw. */
  readonly runs?: readonly CheckRun[];
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed, to be ruled on one by one. */
  readonly contested?: readonly ShownContested[];
  /** What the audit before found: it is looked at first. */
  readonly earlier?: readonly Finding[];
  /** The command that shows the whole of the work. */
  readonly wholeAt?: string;
  /** The diff itself, for an auditor who can neither look nor run anything. */
  readonly work?: string;
}

/** S1.14: the reviewer who raised the findings looks at the fix, and at nothing else. */
export interface ReReviewRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly stage?: string;
  readonly findings: readonly Finding[];
  readonly fixDiff: string;
  readonly filesModified: readonly string[];
  readonly practices: readonly string[];
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed, to be ruled on one by one. */
  readonly contested?: readonly ShownContested[];
  /** What the author says of the fix. */
  readonly readySignal?: string;
  readonly wholeAt?: string;
}

/** S4.32: one of several views of the same work, answered in JSON. */
export interface PerspectiveRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  /** `code`, `security`, `product_owner`, or whatever is configured. */
  readonly perspective: string;
  readonly phase: Phase;
  readonly criteria: readonly Criterion[];
  readonly filesModified: readonly string[];
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed, to be ruled on one by one. */
  readonly contested?: readonly ShownContested[];
  /** The diff, or the section of the story file that the phase wrote. */
  readonly product: string;
  readonly practices: readonly string[];
  readonly readySignal?: string;
  readonly wholeAt?: string;
}

/** What a phase whose product is text has made: its section of the story's file. */
export interface PhaseProduct {
  readonly phase: Phase;
  readonly heading: string;
  readonly text: string;
}

/** The first attempt of a phase. */
export interface AssignmentRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly phase: Phase;
  readonly tddPhase?: TddPhase;
  readonly criteria: readonly Criterion[];
  readonly scope: Scope;
  readonly judgedBy: readonly string[];
  /** What earlier phases made, and this one when it was done before. */
  readonly products: readonly PhaseProduct[];
  readonly context: readonly string[];
  readonly guidance: readonly string[];
  readonly report: ReportWay;
  readonly spellOutFormat: boolean;
}

/** "Say it again": the message could not be read, fails the work without saying for what, or leaves something out. */
export interface ClarificationRequest {
  readonly storyId: string;
  readonly role: SignalRole;
  readonly why: "unreadable" | "no-particulars" | "incomplete";
  /** What was odd about the message, as the reader put it; or what it leaves out. */
  readonly problems: readonly string[];
  readonly ask: number;
  readonly asks: number;
}

export interface RemediationRequest {
  readonly rolePrompt: string;
  readonly issue: string;
  readonly evidence: readonly BriefEvidence[];
  readonly commands: readonly VerificationCommand[];
  readonly guidance: readonly string[];
  readonly history: readonly RemediationTry[];
  readonly attempt: number;
  readonly attempts: number;
}

/** Asked of a role other than the one that repaired. */
export interface HealthCheckRequest {
  readonly rolePrompt: string;
  readonly issue: string;
  readonly fixes: readonly string[];
  readonly commands: readonly VerificationCommand[];
}

/** A finding that its receiver holds to be wrong. */
export interface AdjudicationRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly finding: Finding;
  readonly disputedBy: string;
  readonly rebuttal: string;
  readonly evidence: readonly BriefEvidence[];
}

/** S3.1: is the goal reached? Asked of a model that did not do the work and cannot write. */
export interface OracleRequest {
  readonly rolePrompt: string;
  readonly goal: string;
  readonly criteria: readonly Criterion[];
  readonly conditions: readonly { readonly type: string; readonly command: string; readonly threshold?: number }[];
  readonly makerSummary: string;
  readonly evidence: readonly BriefEvidence[];
  /** The diff itself, for an oracle who can neither look nor run anything. */
  readonly work?: string;
  /** The command that shows the diff. */
  readonly wholeAt?: string;
}

/** For an agent that continues a role's work without its conversation, which is on another machine. */
export interface HistoryRequest {
  /** Of that role, oldest first. */
  readonly attempts: readonly {
    readonly attempt: number;
    readonly phase: Phase;
    readonly summary: string;
    /** Why it was rejected; empty where it was not. */
    readonly failed: string;
    readonly findings?: readonly TriedFinding[];
  }[];
  /** The last message of the newest one, unchanged. */
  readonly message: string;
}

/** A role, as the file that people already have for it defines it (`.claude/agents/<role>.md`). */
export interface AgentFile {
  readonly role: RoleName;
  readonly description: string;
  readonly model?: string;
  /** The tools it may use; not given means all that the agent has. */
  readonly tools?: readonly string[];
  /** The text below the front matter, put in front of every assignment. */
  readonly prompt: string;
  readonly path: string;
}
