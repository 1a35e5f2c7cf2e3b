import { readAssertion } from "./test-output-native.ts";
import { shortMessage, type OutputFailure } from "./test-output-parts.ts";

/** The errors of compilers and linters: whatever says a file, a line and a sentence in one of the usual forms. */
export function readLocations(lines: readonly string[]): OutputFailure[] {
  const found: OutputFailure[] = [];
  let header: string | null = null;
  for (const [at, line] of lines.entries()) {
    const failure =
      oneLine(line) ?? rustError(lines, at) ?? boxed(lines, at) ?? (header === null ? null : below(header, line));
    if (failure !== null) found.push(failure);
    // ESLint names the file once, alone on its line, and its errors below it.
    if (/^(?:\/|[A-Za-z]:\\|\.{0,2}[\w@-])[^:*?"<>|]*\.\w{1,5}$/.test(line)) header = line;
    else if (line.trim() === "") header = null;
  }
  return found;
}

function oneLine(line: string): OutputFailure | null {
  const tsc =
    /^(\S[^():]*)\((\d{1,7}),\d{1,7}\): error (TS\d+: .*)$/.exec(line) ??
    /^(\S[^():]*):(\d{1,7}):\d{1,7} - error (TS\d+: .*)$/.exec(line);
  if (tsc !== null) return failure("type", tsc[1]!, tsc[2]!, tsc[3]!);
  const assertion = readAssertion(line);
  if (assertion !== null) return failure("test", assertion.place.file, String(assertion.place.line), assertion.message);
  const maven = /^\[ERROR\] (?:file:\/\/)?(\S.*?\.\w{1,6}):\[(\d{1,7}),\d{1,7}\] (?:error: )?(.+)$/.exec(line);
  if (maven !== null) return failure("build", maven[1]!, maven[2]!, maven[3]!);
  const named = /^([^\s:][^:]*):(\d{1,7})(?::\d{1,7})?: (?:fatal )?error(?:\[[^\]]*\])?:? (.+)$/.exec(line);
  if (named !== null) return failure("build", named[1]!, named[2]!, named[3]!);
  const bare = /^((?:\.{1,2}\/|[\w@-])[^\s:]*\.\w{1,5}):(\d{1,7}):\d{1,7}: (?!note|warning|info)(.+)$/i.exec(line);
  return bare === null ? null : failure("build", bare[1]!, bare[2]!, bare[3]!);
}

/** `error[E0308]: mismatched types`, and the place on the next line. */
function rustError(lines: readonly string[], at: number): OutputFailure | null {
  const error = /^error(?:\[E\d+\])?: (.+)$/.exec(lines[at]!);
  const place = error === null ? null : /^\s+--> (\S+?):(\d{1,7}):\d{1,7}$/.exec(lines[at + 1] ?? "");
  return error === null || place === null ? null : failure("build", place[1]!, place[2]!, error[1]!);
}

/** `  x rule: sentence`, and the place in the corner of a box on the next line. */
function boxed(lines: readonly string[], at: number): OutputFailure | null {
  const error = /^\s+[x×] (.+)$/.exec(lines[at]!);
  const place = error === null ? null : /^\s*[,╭][-─]\[(.+?):(\d{1,7}):\d{1,7}\]$/.exec(lines[at + 1] ?? "");
  return error === null || place === null ? null : failure("lint", place[1]!, place[2]!, error[1]!);
}

function below(header: string, line: string): OutputFailure | null {
  const found = /^\s+(\d{1,7}):\d{1,7}\s+error\s+(\S.*)$/.exec(line);
  return found === null ? null : failure("lint", header, found[1]!, found[2]!);
}

function failure(category: OutputFailure["category"], file: string, line: string, message: string): OutputFailure {
  return { test: null, category, message: shortMessage(message), detail: "", file, line: Number(line) };
}
