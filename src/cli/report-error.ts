import { CommanderError } from "commander";
import { type ErrorCode, RemandError, systemFault } from "../core/events/error.ts";
import { withoutBackticks } from "../stdx/plain-text.ts";
import { EXIT, type ExitCode } from "../app/command.ts";
import { ProblemsFound } from "./problems-found.ts";

interface ErrorReport {
  readonly text: string;
  readonly exit: ExitCode;
}

/** Returns the message about an error for a person, and the exit code. */
export function reportError(error: unknown, detailed: boolean): ErrorReport {
  if (error instanceof CommanderError) return { text: `remand: ${usageMessage(error)}\n`, exit: EXIT.usage };
  // Its problems were printed where they were found.
  if (error instanceof ProblemsFound) return { text: "", exit: EXIT_OF_CODE[error.code] };
  if (error instanceof RemandError) {
    const cause = detailed && error.cause !== undefined ? `${indent(stackOf(error.cause))}\n` : "";
    const text = withoutBackticks(`remand: ${error.message}\n  ${error.hint}\n`);
    return { text: `${text}${cause}`, exit: EXIT_OF_CODE[error.code] };
  }
  const fault = systemFault(error);
  if (fault !== null) {
    const cause = detailed ? `${indent(stackOf(error))}\n` : "";
    return { text: `remand: ${fault.fact}: ${messageOf(error)}\n  ${fault.fix}\n${cause}`, exit: EXIT.failed };
  }
  return {
    text: `remand: this is a bug in Remand: ${messageOf(error)}\n${whatNext(error, detailed)}\n`,
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
  "sandbox-missing": EXIT.failed,
  "check-unusable": EXIT.usage,
  "branch-missing": EXIT.failed,
  "branch-taken": EXIT.failed,
  "forge-refused": EXIT.failed,
  "forge-unreachable": EXIT.failed,
};

function whatNext(error: unknown, detailed: boolean): string {
  if (detailed) return indent(stackOf(error));
  return "  Nothing you typed should do this. Run it again with --verbose to see where it happened, and report that.";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? messageOf(error)) : String(error);
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

/** Whether a JSON document was requested. Words after `--` belong to an agent's command. */
export function wantsDocument(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => /^--json(?:=|$)/.test(word));
}

/** The error as a document for programs, which read the standard output. */
export function errorDocument(error: unknown, exit: ExitCode): string {
  const problems = error instanceof ProblemsFound ? { problems: error.problems } : {};
  return `${JSON.stringify({ schema: "remand.error/1", error: describeError(error), exit, ...problems }, null, 2)}\n`;
}

function describeError(error: unknown): { readonly code: string; readonly message: string; readonly hint: string } {
  if (error instanceof RemandError) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof CommanderError) return { code: "usage", message: usageMessage(error), hint: "See --help." };
  const fault = systemFault(error);
  if (fault !== null) return { code: "system", message: `${fault.fact}: ${messageOf(error)}`, hint: fault.fix };
  return { code: "bug", message: messageOf(error), hint: "Run it again with --verbose, and report it." };
}

const usageMessage = ({ message }: CommanderError): string => message.replace(/^error: /, "");
