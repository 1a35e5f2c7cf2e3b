import { identified, type Finding } from "../../domain/finding.ts";
import { findAssignments } from "../../readers/secret-assignments.ts";
import { findJwts, findPrivateKeys, findTokens } from "../../readers/secret-tokens.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { AddedLine } from "./added-lines.ts";

/** What should not have been left in the files: halves of a merge, secrets, and lines that were written to look. */
export function leftBehind(added: readonly AddedLine[], testPaths: readonly string[]): Finding[] {
  return [...byFile(added)].flatMap(([file, lines]) => [
    ...conflicts(file, lines),
    ...secrets(file, lines, matchesAnyGlob(file, testPaths)),
    ...(matchesAnyGlob(file, testPaths) ? [] : debugging(file, lines)),
  ]);
}

function byFile(added: readonly AddedLine[]): Map<string, AddedLine[]> {
  const groups = new Map<string, AddedLine[]>();
  for (const line of added) {
    const group = groups.get(line.file);
    if (group === undefined) groups.set(line.file, [line]);
    else group.push(line);
  }
  return groups;
}

/** Both ends must be there: one alone may be a heading, or a text about merging. */
function conflicts(file: string, lines: readonly AddedLine[]): Finding[] {
  const begin = lines.find(({ text }) => /^<{7}(?: |$)/.test(text));
  const end = lines.some(({ text }) => /^>{7}(?: |$)/.test(text));
  if (begin === undefined || !end) return [];
  const message = "the marks of a merge conflict were left in the file";
  return [
    finding(
      "blocker",
      file,
      begin.line,
      message,
      "Resolve the conflict: keep what belongs there, and take the marks out.",
    ),
  ];
}

function secrets(file: string, lines: readonly AddedLine[], isTest: boolean): Finding[] {
  const text = lines.map((line) => line.text).join("\n");
  const certain = [...findPrivateKeys(text), ...findTokens(text), ...findJwts(text)].map((secret) => ({
    ...secret,
    isCertain: true,
  }));
  const likely = findAssignments(text).map((secret) => ({ ...secret, isCertain: false }));
  const kinds = new Map<string, { start: number; isCertain: boolean }>();
  for (const { kind, start, isCertain } of [...certain, ...likely])
    if (!kinds.has(kind)) kinds.set(kind, { start, isCertain });
  return [...kinds].map(([kind, { start, isCertain }]) => {
    const at = text.slice(0, start).split("\n").length - 1;
    const message = isCertain ? `a secret was written into the file (${kind})` : `this looks like a secret (${kind})`;
    const fix =
      "Take it out, and read it from the environment. If it is real, it must be replaced: it is in the history now.";
    // Tests are full of made-up passwords.
    return finding(isCertain && !isTest ? "critical" : "minor", file, lines[at]!.line, message, fix);
  });
}

const DEBUGGING =
  /^\s*(?:debugger;?\s*$|console\.(?:log|debug|trace|dir)\(|dbg!\(|binding\.(?:pry|irb)\b|byebug\b|import i?pdb\b|i?pdb\.set_trace\(|breakpoint\(\)|var_dump\(|dd\()/;
const MOST_SHOWN = 5;

function debugging(file: string, lines: readonly AddedLine[]): Finding[] {
  return lines
    .filter(({ text }) => DEBUGGING.test(text.slice(0, 500)))
    .slice(0, MOST_SHOWN)
    .map(({ line, text }) =>
      finding(
        "info",
        file,
        line,
        `this may have been left from looking for a fault: ${text.trim().slice(0, 100)}`,
        "Take it out, if it is not meant to stay.",
      ),
    );
}

function finding(
  severity: Finding["severity"],
  file: string,
  line: number,
  message: string,
  suggestedFix: string,
): Finding {
  return identified({ severity, category: "integrity", source: "integrity", file, line, message, suggestedFix });
}
