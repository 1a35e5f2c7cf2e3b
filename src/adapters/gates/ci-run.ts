import type { Finding } from "../../domain/finding.ts";
import type { Result } from "../../domain/result.ts";
import type { GateRequest } from "../../ports/gate.ts";

/** How an outside CI run ended. */
export interface CiRun {
  readonly result: Result;
  /** What ran, for a person. */
  readonly name: string;
  readonly details: string;
  readonly log: string;
  readonly step: string | null;
  readonly annotations: readonly Finding[];
}

export interface CiControl {
  readonly signal: AbortSignal;
  onOutput(line: string): void;
  /** Was this very tree judged before? */
  readonly isAgain: boolean;
}

/** Whoever runs CI: a forge, or commands that stand in for one. */
export interface CiService {
  run(request: GateRequest, control: CiControl): Promise<CiRun>;
  judgedBy(): readonly string[];
}
