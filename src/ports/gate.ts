import type { BaseFailures } from "../core/gates/base-failures.ts";
import type { Finding } from "../core/gates/finding.ts";
import type { BaseRun, GateName, Judgement } from "../core/gates/gate.ts";
import type { AgentSession, EvidenceId, Fingerprint, RoleName, TreeId } from "../core/events/ids.ts";
import type { Phase, Story } from "../core/stories/story.ts";
import type { GateRules, Roles } from "../core/events/policy.ts";
import type { Scope, ScopeException } from "../core/stories/scope.ts";
import type { AgentUse } from "./agent.ts";

/** Checks the work and records evidence. A gate that cannot decide returns that as a result; it throws only for our own bugs. */
export interface Gate {
  readonly name: GateName;
  run(request: GateRequest, control: GateControl): Promise<Judgement>;
  /** Looks at the base, before the work begins. */
  baseline?(request: GateRequest, control: GateControl): Promise<Baseline>;
  /** Finds out, while an agent works on the base, what the gate will need to judge the work. */
  prepare?(request: GateRequest, control: GateControl): Promise<void>;
  /** It looks at the base in a folder of its own, and so may go on while work is done. */
  readonly hasOwnBase?: boolean;
  /** The commands or rules that decide the result; they go into the brief. */
  criteria(): readonly string[];
}

export interface Baseline {
  /** What fails before the work begins, by name. */
  readonly failing: readonly string[];
  /** Names of what failed in one run and not in the other. */
  readonly flaky: readonly string[];
  /** How the checks went; absent where the gate ran none. */
  readonly run?: BaseRun;
  /** Every check ended well. */
  readonly isGreen?: boolean;
  /** How they ended, for people. */
  readonly summary?: string;
  /** Checks that could not be started at all, each with what was seen. */
  readonly unusable?: readonly { readonly check: string; readonly why: string }[];
  /** Variables that are withheld from the checks, and without which they fail. */
  readonly needsVariables?: readonly string[];
}

export interface GateControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
  /** For a look at the base: is work done in the folder meanwhile? */
  isWorkUnderWay?(): boolean;
  /** Called for each agent that is asked: what it may cost, and who is told what it has used so far. */
  meter?(): { readonly maxCostUsd: number | null; onUse(used: AgentUse): void };
}

export interface GateRequest {
  readonly story: Story;
  readonly phase: Phase;
  readonly path: string;
  /**
   * Where the author has these files, if `path` is a clean checkout that was made for this judgement: what is reported
   * names files as they are called there. Absent: the files are the author's own.
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
  /** For a second look: the commit of the last judgement. */
  readonly since: string | null;
  /** Earlier findings, each to be answered ADDRESSED or NOT. */
  readonly earlier: readonly Finding[];
  /** What this gate said last, pass or fail, of whatever tree. */
  readonly last: Judgement | null;
  /** What the other gates of the phase said of this very tree. */
  readonly beside: { readonly [G in GateName]?: Judgement };
  readonly overturned: readonly Fingerprint[];
  /** What the attempt was allowed to touch; `null` for new work. */
  readonly scope: Scope | null;
  /** Where it went beyond that, with its reasons. */
  readonly exceptions: readonly ScopeException[];
  /** The author's own message; `null` when it said nothing. */
  readonly message: EvidenceId | null;
  readonly roles: Roles;
  /** How often a reviewer is asked to say it again. */
  readonly clarifications: number;
  /** How often each role was asked before, for this story; and its conversation, where it can be gone on with. */
  readonly asked: Readonly<Record<RoleName, number>>;
  readonly sessions: Readonly<Record<RoleName, AgentSession>>;
  /** Identifies this judgement: the story, and the number of its events when it was decided. */
  readonly key: string;
  /** What failed before the work began, and what that means for the work. */
  readonly atBase: BaseFailures;
  /** Is work refused that no test shows? */
  readonly requireTest: boolean;
  /** Existing tests that the work may change: names, files or patterns. */
  readonly licensed: readonly string[];
  /** The newest files whose tests a gate that passed, or a person, has seen in this story. */
  readonly seenTree?: TreeId;
  /** How this gate's checks went at the base; absent where that is not known. */
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
  /** The roles that raised it or wrote the code: they may not replace the adjudicator. */
  readonly partial: readonly RoleName[];
}

/** Without a decision the finding is upheld, and a person decides. */
export interface Adjudication {
  readonly upheld: boolean;
  /** The role that decided; `null` where no agent replied. */
  readonly by: RoleName | null;
  readonly reason: string;
  readonly asked: Readonly<Record<RoleName, number>>;
  /** `null` where an agent did not report it. */
  readonly costUsd: number | null;
  readonly tokens: number | null;
}
