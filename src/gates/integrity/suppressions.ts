import type { Finding } from "../../core/gates/finding.ts";
import type { FileChange } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

const SILENCERS =
  /(?:\/\/|\/\*|#|<!--|\{\/\*)\s{0,5}(?:eslint-disable(?:-next-line|-line)?|oxlint-disable(?:-next-line|-line)?|biome-ignore|@ts-ignore|@ts-nocheck|@ts-expect-error|(?:istanbul|c8|v8) ignore|type: ?ignore|noqa|pylint: ?disable|mypy: ?ignore-errors|ruff: ?noqa|nosec|pragma: no (?:cover|mutate)|nolint|Stryker disable)\b|^\s{0,40}#!?\[allow\(|\/\/nolint\b/i;

/** A reason stands after the names of the rules: behind dashes, a colon or another mark of a comment, or in words. */
const REASON =
  / -- \S|(?:ignore|nocheck|expect-error|noqa|nolint)[^\n]{0,80}?(?:\s(?:#|\/\/|--|—|-)\s?\w|: ?[a-z]+ [a-z]+ )|\b(?:because|until|see|upstream|bug|wrong types?)\b/i;

/** Lines that silence a compiler, a linter or the measurement of coverage. */
export function suppressions(changes: readonly FileChange[], book: RuleReporter): Finding[] {
  return changes.flatMap(({ path, added, removed }) => {
    if (!/\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|go|rs)$/.test(path)) return [];
    const before = new Set(removed.map((text) => text.trim()));
    return added
      .filter(({ text }) => SILENCERS.test(text.slice(0, 1000)) && !before.has(text.trim()))
      .slice(0, 10)
      .flatMap(({ line, text }) =>
        book.report(REASON.test(text.slice(0, 1000)) ? "suppression-explained" : "suppression-added", {
          file: path,
          line,
          message: `a complaint was silenced: ${text.trim().slice(0, 120)}`,
          suggestedFix: "Fix what it reports, or say on the same line why it must be silenced.",
        }),
      );
  });
}
