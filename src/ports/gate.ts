import type { BaseFailures } from "../core/gates/base-failures.ts";
import type { Finding } from "../core/gates/finding.ts";
import type { BaseRun, GateName, Judgement } from "../core/gates/gate.ts";
import type { AgentSession, EvidenceId, Fingerprint, RoleName, TreeId } from "../core/events/ids.ts";
import type { Phase, Story } from "../core/stories/story.ts";
import type { GateRules, Roles } from "../core/events/policy.ts";
import type { Scope, ScopeException } from "../core/stories/scope.ts";
import type { AgentUse } from "./agent.ts";

/**
 * Checks the work and records evidence. A gate that cannot decide returns that as a result; it throws only for bugs in
 * Remand.
 */
export interface Gate {
  readonly name: GateName;
  run(request: GateRequest, control: GateControl): Promise<Judgement>;
  /** Runs on the base, before the work begins. */
  baseline?(request: GateRequest, control: GateControl): Promise<Baseline>;
  /** Prepares what the gate needs to judge the work, while an agent works on the base. */
  prepare?(request: GateRequest, control: GateControl): Promise<void>;
  /** Whether the gate runs the base in a folder of its own, so that it may continue while an agent works. */
  readonly hasOwnBase?: boolean;
  /** The commands or rules that decide the result; they go into the brief. */
  criteria(): readonly string[];
}

export interface Baseline {
  /** What fails before the work begins, by name. */
  readonly failing: readonly string[];
  /** Names of what failed in one run and passed in the other. */
  readonly flaky: readonly string[];
  /** How the checks ended; absent if the gate ran none. */
  readonly run?: BaseRun;
  /** Whether every check passed. */
  readonly isGreen?: boolean;
  /** How the checks ended, for people. */
  readonly summary?: string;
  /** Checks that could not be started, each with the reason. */
  readonly unusable?: readonly { readonly check: string; readonly why: string }[];
  /** Variables that are withheld from the checks, and without which they fail. */
  readonly needsVariables?: readonly string[];
}

export interface GateControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
  /** For a run on the base: whether an agent works in the folder meanwhile. */
  isWorkUnderWay?(): boolean;
  /** Called for each agent that is asked: returns what it may cost, and a callback for what it has used so far. */
  meter?(): { readonly maxCostUsd: number | null; onUse(used: AgentUse): void };
}

export interface GateRequest {
  readonly story: Story;
  readonly phase: Phase;
  readonly path: string;
  /**
   * The author's folder, if `path` is a clean checkout that was made for this judgement: reports name files as in that
   * folder. Absent: `path` is the author's own folder.
   */
  readonly workedIn?: string;
  readonly tree: TreeId;
  readonly commit: string;
  /** The commit the story's work started from. */
  readonly base: string;
  /** The commit before the attempt that is judged. */
  readonly previous: string;
  readonly rules: GateRules;
  readonly stages: readonly string[];
  /** For a re-review: the commit of the last judgement. */
  readonly since: string | null;
  /** Earlier findings; the reviewer answers ADDRESSED or NOT for each. */
  readonly earlier: readonly Finding[];
  /** This gate's last pass or fail, on any tree. */
  readonly last: Judgement | null;
  /** The results of the other gates of the phase on this same tree. */
  readonly beside: { readonly [G in GateName]?: Judgement };
  readonly overturned: readonly Fingerprint[];
  /** What the attempt was allowed to change; `null` for new work. */
  readonly scope: Scope | null;
  /** The attempt's changes outside the scope, with its reasons. */
  readonly exceptions: readonly ScopeException[];
  /** The author's own message; `null` if there is none. */
  readonly message: EvidenceId | null;
  readonly roles: Roles;
  /** How often a reviewer is asked to repeat its reply. */
  readonly clarifications: number;
  /** How often each role was asked before for this story, and its conversation if it can be resumed. */
  readonly asked: Readonly<Record<RoleName, number>>;
  readonly sessions: Readonly<Record<RoleName, AgentSession>>;
  /** Identifies this judgement: the story, and the number of its events at the decision. */
  readonly key: string;
  /** What failed before the work began, and what that means for the work. */
  readonly atBase: BaseFailures;
  /** Whether work is rejected if no test covers it. */
  readonly requireTest: boolean;
  /** Existing tests that the work may change: names, files or patterns. */
  readonly licensed: readonly string[];
  /** The newest tree whose tests a passing gate, or a person, has seen in this story. */
  readonly seenTree?: TreeId;
  /** How this gate's checks ended at the base; absent if unknown. */
  readonly baseRun?: BaseRun;
  readonly timeoutMs: number;
}

/** Decides whether a finding is upheld. The deciding role neither raised the finding nor wrote the code. */
export interface Adjudicator {
  decide(dispute: DisputedFinding, control: GateControl): Promise<Adjudication>;
}

export interface DisputedFinding {
  readonly request: GateRequest;
  readonly role: RoleName;
  readonly finding: Finding;
  readonly disputedBy: string;
  readonly rebuttal: string;
  /** The roles that raised the finding or wrote the code: they may not replace the adjudicator. */
  readonly partial: readonly RoleName[];
}

/** Without a decision the finding is upheld, and a person decides. */
export interface Adjudication {
  readonly upheld: boolean;
  /** The role that decided; `null` if no agent replied. */
  readonly by: RoleName | null;
  readonly reason: string;
  readonly asked: Readonly<Record<RoleName, number>>;
  /** `null` if an agent did not report it. */
  readonly costUsd: number | null;
  readonly tokens: number | null;
}
