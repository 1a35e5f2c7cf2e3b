import type { Finding } from "../../core/gates/finding.ts";
import { findAssignments } from "../../parse/secrets/secret-assignments.ts";
import { findJwts, findPrivateKeys, findTokens } from "../../parse/secrets/secret-tokens.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { AddedLine, FileChange } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/** Returns findings for leftovers: conflict markers, secrets, and debug lines. */
export function leftBehind(
  changes: readonly FileChange[],
  testPaths: readonly string[],
  book: RuleReporter,
): Finding[] {
  return changes.flatMap(({ path, added }) => {
    const isTest = matchesAnyGlob(path, testPaths);
    return [
      ...conflicts(path, added, book),
      ...secrets(path, added, isTest, book),
      ...leftLines(path, added, book, isTest ? MARKS.slice(1) : MARKS),
    ];
  });
}

/** Requires both markers: a single one may be a heading, or a text about merging. */
function conflicts(file: string, lines: readonly AddedLine[], book: RuleReporter): Finding[] {
  const begin = lines.find(({ text }) => /^<{7}(?: |$)/.test(text));
  const end = lines.some(({ text }) => /^>{7}(?: |$)/.test(text));
  if (begin === undefined || !end) return [];
  return book.report("conflict-marker", {
    file,
    line: begin.line,
    message: "the marks of a merge conflict were left in the file",
    suggestedFix: "Resolve the conflict: keep what belongs there, and take the marks out.",
  });
}

function secrets(file: string, lines: readonly AddedLine[], isTest: boolean, book: RuleReporter): Finding[] {
  const text = lines.map((line) => line.text).join("\n");
  const certain = [...findPrivateKeys(text), ...findTokens(text), ...findJwts(text)].map((secret) => ({
    ...secret,
    isCertain: true,
  }));
  const likely = findAssignments(text).map((secret) => ({ ...secret, isCertain: false }));
  const kinds = new Map<string, { start: number; isCertain: boolean }>();
  for (const { kind, start, isCertain } of [...certain, ...likely])
    if (!kinds.has(kind)) kinds.set(kind, { start, isCertain });
  return [...kinds].flatMap(([kind, { start, isCertain }]) => {
    const at = text.slice(0, start).split("\n").length - 1;
    const message = isCertain ? `a secret was written into the file (${kind})` : `this looks like a secret (${kind})`;
    const suggestedFix =
      "Take it out, and read it from the environment. If it is real, it must be replaced: it is in the history now.";
    // Tests are full of made-up passwords.
    return book.report(isCertain && !isTest ? "secret" : "secret-likely", {
      file,
      line: lines[at]!.line,
      message,
      suggestedFix,
    });
  });
}

interface LeftoverPattern {
  readonly rule: "debug-output" | "debug-stop" | "remove-marker";
  readonly pattern: RegExp;
  readonly message: string;
}

/** Debug output is allowed in tests; a debugger stop is not, because it stops the run. */
const MARKS: readonly LeftoverPattern[] = [
  {
    rule: "debug-output",
    pattern: /^\s*(?:console\.(?:log|debug|trace|dir)\(|dbg!\(|var_dump\(|dd\(|pp\()/,
    message: "this looks like leftover debug output",
  },
  {
    rule: "debug-stop",
    pattern: /^\s*(?:debugger;?\s*$|binding\.(?:pry|irb)\b|byebug\b|import i?pdb\b|i?pdb\.set_trace\(|breakpoint\(\))/,
    message: "the program stops here for a debugger",
  },
  {
    rule: "remove-marker",
    pattern:
      /\b(?:TODO|FIXME|XXX|HACK)\b[^\n]{0,40}\b(?:remove|delete|take (?:this )?out|before (?:merge|commit|release|merging))\b|\bDO[ _-]?NOT[ _-]?(?:COMMIT|MERGE|SHIP)\b|\bNOCOMMIT\b/,
    message: "a comment on the line says that it must be removed",
  },
];

const MOST_SHOWN = 5;

function leftLines(
  file: string,
  lines: readonly AddedLine[],
  book: RuleReporter,
  marks: readonly LeftoverPattern[],
): Finding[] {
  // Documentation may quote such lines.
  if (/\.(?:md|mdx|rst|adoc|txt)$/.test(file)) return [];
  return marks.flatMap(({ rule, pattern, message }) =>
    lines
      .filter(({ text }) => pattern.test(text.slice(0, 500)))
      .slice(0, MOST_SHOWN)
      .flatMap(({ line, text }) =>
        book.report(rule, {
          file,
          line,
          message: `${message}: ${text.trim().slice(0, 100)}`,
          suggestedFix: "Take it out, if it is not meant to stay.",
        }),
      ),
  );
}

/** Reports files that are binary, or too large to be read by line. `sizes` has the sizes of binary files. */
export function unreadable(
  changes: readonly FileChange[],
  sizes: ReadonlyMap<string, number>,
  book: RuleReporter,
): Finding[] {
  return changes.flatMap(({ path, status, isBinary, added }) => {
    if (status === "deleted") return [];
    const size = sizes.get(path) ?? added.reduce((sum, { text }) => sum + text.length + 1, 0);
    if (
      size > LARGE &&
      !/(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|uv\.lock|poetry\.lock)$/.test(path)
    )
      return book.report("large-file", {
        file: path,
        message: "a large file was added, or one grew large",
        suggestedFix: "Keep it out of the repository, or make it small.",
        detail: `${Math.round(size / 1024)} kB`,
      });
    if (
      !isBinary ||
      status !== "added" ||
      /\.(?:png|jpe?g|gif|webp|avif|ico|svgz|woff2?|ttf|otf|pdf|mp[34]|wasm)$/i.test(path)
    )
      return [];
    return book.report("binary-file", {
      file: path,
      message: "a binary file was added",
      suggestedFix: "Take it out, if it can be made from something readable.",
    });
  });
}

/** In bytes. */
const LARGE = 1024 * 1024;
