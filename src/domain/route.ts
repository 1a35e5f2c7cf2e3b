import type { RoleName } from "./ids.ts";
import type { Phase, TddPhase } from "./phase.ts";

/** Which phase and which agent role gets the brief. */
export interface Route {
  readonly phase: Phase;
  readonly role: RoleName;
  readonly tddPhase?: TddPhase;
  /** Why it goes there, for the person who reads the trail. */
  readonly reason: string;
}
