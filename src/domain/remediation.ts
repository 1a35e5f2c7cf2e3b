/** Repairing infrastructure; while it runs no new work is dispatched. */
export interface Remediation {
  readonly issue: string;
  readonly since: number;
  readonly tries: number;
  readonly stage: "waiting" | "repairing" | "repaired";
  readonly guidance: readonly string[];
  readonly history: readonly RemediationTry[];
}

export interface RemediationTry {
  readonly attempt: number;
  readonly fixes: readonly string[];
  readonly healthy: boolean;
  readonly remaining: readonly string[];
}
