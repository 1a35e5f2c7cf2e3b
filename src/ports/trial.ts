/** Runs a check on a state of the files that is only tried. */
export interface Trial {
  run(request: TrialRequest, control: { readonly signal: AbortSignal }): Promise<TrialRun>;
}

export interface TrialRequest {
  readonly command: string;
  /** The folder in which it runs. */
  readonly path: string;
  readonly timeoutMs: number;
}

export interface TrialRun {
  readonly passed: boolean;
  /** It did not come to its end, so it says nothing. */
  readonly timedOut: boolean;
  readonly output: string;
  readonly tookMs: number;
}
