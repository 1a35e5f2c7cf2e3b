import type { Finding } from "../domain/finding.ts";
import type { RoleName } from "../domain/ids.ts";
import type { GateControl, GateRequest } from "./gate.ts";

/** Somebody who neither raised a finding nor wrote the code, and says whether it stands. */
export interface Adjudicator {
  decide(dispute: DisputedFinding, control: GateControl): Promise<Adjudication>;
}

export interface DisputedFinding {
  readonly request: GateRequest;
  readonly role: RoleName;
  readonly finding: Finding;
  readonly disputedBy: string;
  readonly rebuttal: string;
  /** Those who raised it or wrote the code: they stand in for nobody here. */
  readonly partial: readonly RoleName[];
}

/** Where nobody could be heard the finding stands, and a person decides. */
export interface Adjudication {
  readonly upheld: boolean;
  /** Who said so; `null` where nobody was heard. */
  readonly by: RoleName | null;
  readonly reason: string;
  readonly asked: Readonly<Record<RoleName, number>>;
  /** `null` where somebody did not say. */
  readonly costUsd: number | null;
  readonly tokens: number | null;
}
