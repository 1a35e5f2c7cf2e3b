export type ProofKind =
  | "culprit"
  | "multi"
  | "joint"
  | "slip"
  | "unmet"
  | "pre-existing"
  | "environment"
  | "flaky"
  | "too-broad"
  | "unknown";

/** What the runs came to for one group of failures. */
export interface Cause {
  readonly kind: ProofKind;
  readonly proven: boolean;
  readonly hunks: readonly number[];
  readonly because: string;
  /** What has to be taken back for the tests to pass: the culprits, and what does not build without them. */
  readonly cure?: readonly number[];
  /** Without it the tests pass, each time; only the other direction could not be run. */
  readonly isShown?: boolean;
  /** The cause of these failures is proven, and others are left without it. */
  readonly isPartial?: boolean;
  /** It is not proven because of how the changes hang together; no run contradicted another. */
  readonly isEntangled?: boolean;
}

export function rankedCause(kind: ProofKind, because: string, hunks: readonly number[] = []): Cause {
  return { kind, proven: false, hunks, because };
}
