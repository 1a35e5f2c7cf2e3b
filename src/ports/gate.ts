import type { Finding } from "../domain/finding.ts";
import type { GateName, Judgement } from "../domain/gate.ts";
import type { Fingerprint, TreeId } from "../domain/ids.ts";
import type { Phase } from "../domain/phase.ts";
import type { GateRules } from "../domain/policy.ts";
import type { Scope } from "../domain/scope.ts";
import type { Story } from "../domain/story.ts";

/** Judges the work and brings evidence. A gate that cannot judge says so as a result; it throws only for our own faults. */
export interface Gate {
  readonly name: GateName;
  judge(
    request: GateRequest,
    control: { readonly signal: AbortSignal; onOutput(line: string): void },
  ): Promise<Judgement>;
  /** What is red before the work begins, by name: it is shown, and never blamed on the agent. */
  baseline?(
    request: GateRequest,
    control: { readonly signal: AbortSignal; onOutput(line: string): void },
  ): Promise<readonly string[]>;
  /** The commands, or the words, by which it will judge: they go into the brief. */
  judgedBy(): readonly string[];
}

export interface GateRequest {
  readonly story: Story;
  readonly phase: Phase;
  readonly path: string;
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
  readonly earlier: readonly Finding[];
  readonly overturned: readonly Fingerprint[];
  /** What the attempt was allowed to touch; `null` for new work. */
  readonly scope: Scope | null;
  /** Tests and checks that were red before the work began. */
  readonly preExisting: readonly string[];
  readonly timeoutMs: number;
}
