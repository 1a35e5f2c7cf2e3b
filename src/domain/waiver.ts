import type { GateName } from "./gate.ts";
import type { Fingerprint, TreeId } from "./ids.ts";

/** A person lets a finding or a gate through. It opens the gate and is never shown as a pass. */
export interface Waiver {
  readonly gate: GateName;
  /** The findings it covers. A new finding at the same gate is not covered. */
  readonly findings: readonly Fingerprint[];
  /** Where there was no finding to name (an error, nothing proven), it covers this tree alone. */
  readonly tree: TreeId | null;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}
