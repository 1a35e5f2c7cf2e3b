import { RemandError, type ErrorCode } from "../domain/error.ts";
import { EXIT, type ExitCode } from "./command.ts";

export interface ErrorReport {
  readonly text: string;
  readonly exit: ExitCode;
}

/** What a person is told about an error, and the exit code that goes with it. */
export function reportError(error: unknown, detailed: boolean): ErrorReport {
  if (error instanceof RemandError) {
    const cause = detailed && error.cause !== undefined ? `${indented(stackOf(error.cause))}\n` : "";
    return { text: `remand: ${error.message}\n  ${error.hint}\n${cause}`, exit: EXIT_OF_CODE[error.code] };
  }
  return {
    text: `remand: this is a fault of Remand's own: ${messageOf(error)}\n${whatNext(error, detailed)}\n`,
    exit: EXIT.failed,
  };
}

const EXIT_OF_CODE: Readonly<Record<ErrorCode, ExitCode>> = {
  usage: EXIT.usage,
  "not-a-person": EXIT.failed,
  "config-invalid": EXIT.usage,
  "story-invalid": EXIT.usage,
  "input-invalid": EXIT.usage,
  "file-missing": EXIT.failed,
  "file-unreadable": EXIT.failed,
  "file-too-large": EXIT.failed,
  "journal-full": EXIT.failed,
  "journal-readonly": EXIT.failed,
  "journal-corrupt": EXIT.failed,
  "journal-lost": EXIT.failed,
  "journal-newer": EXIT.failed,
  "journal-locked": EXIT.failed,
  "journal-unreachable": EXIT.failed,
  "journal-refused": EXIT.failed,
  "journal-moved": EXIT.failed,
  "evidence-corrupt": EXIT.failed,
  "git-missing": EXIT.failed,
  "not-a-repository": EXIT.usage,
  "no-commits": EXIT.usage,
  "git-failed": EXIT.failed,
  "ref-locked": EXIT.failed,
  "workspace-broken": EXIT.failed,
  "setup-failed": EXIT.failed,
  "check-unusable": EXIT.usage,
  "forge-refused": EXIT.failed,
  "forge-unreachable": EXIT.failed,
};

function whatNext(error: unknown, detailed: boolean): string {
  if (detailed) return indented(stackOf(error));
  return "  Nothing you typed should do this. Run it again with --verbose to see where it happened, and report that.";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? messageOf(error)) : String(error);
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
