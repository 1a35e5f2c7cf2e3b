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
 * Inputs for the writers of prompts: one type per kind of request to an agent. A brief has its own file, because the
 * whole loop uses it.
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

/** A contested test as a reviewer sees it. */
export interface ShownContested extends ContestedTest {
  /** How its file changed from the base to the work; absent if it did not change, or that is not known. */
  readonly diff?: string;
}

/** S2.8: one critic, or the reviewer of one stage. */
export interface CriticRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly stage?: string;
  readonly filesModified: readonly string[];
  /** The developer's own message, unchanged. */
  readonly readySignal: string;
  /** The project's rules for reviewers. */
  readonly practices: readonly string[];
  /** The diff, or the section of the story file that the phase wrote. */
  readonly work?: ShownWork;
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed; the reviewer rules on each. */
  readonly contested?: readonly ShownContested[];
  /** The changes since the reviewer's pass: the reviewer knows the rest of the work. */
  readonly since?: ShownWork;
}

/** Work as a prompt shows it. The text may be cut, so the command that shows all of it is given too. */
export interface ShownWork {
  readonly text: string;
  /** The command that shows all of the work, in the reviewer's folder. */
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
  /** What the engine ran on this tree, with the results. */
  readonly runs?: readonly CheckRun[];
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed; the auditor rules on each. */
  readonly contested?: readonly ShownContested[];
  /** The findings of the previous audit, which are checked first. */
  readonly earlier?: readonly Finding[];
  /** The command that shows the whole of the work. */
  readonly wholeAt?: string;
  /** The diff itself, for an auditor that can neither read files nor run commands. */
  readonly work?: string;
}

/** S1.14: the reviewer who raised the findings checks the fix, and nothing else. */
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
  /** Existing tests that the work changed; the reviewer rules on each. */
  readonly contested?: readonly ShownContested[];
  /** What the author says about the fix. */
  readonly readySignal?: string;
  readonly wholeAt?: string;
}

/** S4.32: one of several perspectives on the same work, answered in JSON. */
export interface PerspectiveRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  /** `code`, `security`, `product_owner`, or another configured name. */
  readonly perspective: string;
  readonly phase: Phase;
  readonly criteria: readonly Criterion[];
  readonly filesModified: readonly string[];
  /** What the checks passed the work in spite of, or do not show. */
  readonly notes?: readonly string[];
  /** Existing tests that the work changed; the reviewer rules on each. */
  readonly contested?: readonly ShownContested[];
  /** The diff, or the section of the story file that the phase wrote. */
  readonly product: string;
  readonly practices: readonly string[];
  readonly readySignal?: string;
  readonly wholeAt?: string;
}

/** The product of a text phase: its section of the story's file. */
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
  /** The products of earlier phases, and of this phase if it was done before. */
  readonly products: readonly PhaseProduct[];
  readonly context: readonly string[];
  readonly guidance: readonly string[];
  readonly report: ReportWay;
  readonly spellOutFormat: boolean;
}

/**
 * Asks for the reply again: the message could not be read, fails the work without a reason, or leaves something out.
 */
export interface ClarificationRequest {
  readonly storyId: string;
  readonly role: SignalRole;
  readonly why: "unreadable" | "no-particulars" | "incomplete";
  /** Problems with the message, as the reader described them; or what it leaves out. */
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

/** A request to a role other than the one that did the repair. */
export interface HealthCheckRequest {
  readonly rolePrompt: string;
  readonly issue: string;
  readonly fixes: readonly string[];
  readonly commands: readonly VerificationCommand[];
}

/** A finding that the author considers wrong. */
export interface AdjudicationRequest {
  readonly rolePrompt: string;
  readonly story: PromptStory;
  readonly finding: Finding;
  readonly disputedBy: string;
  readonly rebuttal: string;
  readonly evidence: readonly BriefEvidence[];
}

/** S3.1: whether the goal is reached. The model that is asked did not do the work and cannot write. */
export interface OracleRequest {
  readonly rolePrompt: string;
  readonly goal: string;
  readonly criteria: readonly Criterion[];
  readonly conditions: readonly { readonly type: string; readonly command: string; readonly threshold?: number }[];
  readonly makerSummary: string;
  readonly evidence: readonly BriefEvidence[];
  /** The diff itself, for an oracle that can neither read files nor run commands. */
  readonly work?: string;
  /** The command that shows the diff. */
  readonly wholeAt?: string;
}

/** For an agent that continues a role's work without its conversation, which is on another machine. */
export interface HistoryRequest {
  /** The attempts of that role, oldest first. */
  readonly attempts: readonly {
    readonly attempt: number;
    readonly phase: Phase;
    readonly summary: string;
    /** Why it was rejected; empty if it was not. */
    readonly failed: string;
    readonly findings?: readonly TriedFinding[];
  }[];
  /** The last message of the newest attempt, unchanged. */
  readonly message: string;
}

/** A role, as its file (`.claude/agents/<role>.md`) defines it. */
export interface AgentFile {
  readonly role: RoleName;
  readonly description: string;
  readonly model?: string;
  /** The tools it may use; absent: all that the agent has. */
  readonly tools?: readonly string[];
  /** The text below the front matter, which precedes every assignment. */
  readonly prompt: string;
  readonly path: string;
}
