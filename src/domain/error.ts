/**
 * An operating error: the surroundings, not the work and not our own mistake. It says what happened and what to
 * do about it, and it is caught in two places only (the engine's performer and `main`).
 */
export class RemandError extends Error {
  readonly code: ErrorCode;
  /** What to do about it, as a sentence. */
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RemandError";
    this.code = code;
    this.hint = hint;
  }
}

export type ErrorCode =
  | "usage"
  | "not-a-person"
  | "config-invalid"
  | "story-invalid"
  | "file-missing"
  | "file-unreadable"
  | "file-too-large"
  | "input-invalid"
  | "journal-full"
  | "journal-readonly"
  | "journal-corrupt"
  | "journal-lost"
  | "journal-newer"
  | "journal-locked"
  | "journal-unreachable"
  | "journal-refused"
  | "journal-moved"
  | "evidence-corrupt"
  | "git-missing"
  | "not-a-repository"
  | "no-commits"
  | "git-failed"
  | "ref-locked"
  | "workspace-broken"
  | "setup-failed"
  | "check-unusable"
  | "forge-refused"
  | "forge-unreachable";
