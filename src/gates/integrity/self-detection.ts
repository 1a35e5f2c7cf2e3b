import type { Finding } from "../../core/gates/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { FileChange } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/** Code of the product that asks whether a test runs it: no run of the tests can show what it does elsewhere. */
export function selfDetection(
  changes: readonly FileChange[],
  testPaths: readonly string[],
  book: RuleReporter,
): Finding[] {
  return changes
    .filter(({ path }) => isCode(path) && !isRunnerFile(path) && !matchesAnyGlob(path, testPaths))
    .flatMap((change) => detections(change, book));
}

const isCode = (path: string): boolean => /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|java|kts?|cs|php)$/.test(path);
const isRunnerFile = (path: string): boolean =>
  /(?:^|\/)(?:conftest\.py|[^/]*(?:setup|teardown|\.config)[^/]*\.[cm]?[jt]s)$/i.test(path);

const DETECTS =
  /\bNODE_ENV\b["'\]]{0,2}\s?[!=]==?\s?["']test["']|["']test["']\s?[!=]==?\s?[\w.?]{0,30}\bNODE_ENV\b|\b(?:VITEST(?:_WORKER_ID|_POOL_ID)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|PYTEST_CURRENT_TEST|PYTEST_VERSION|MOCHA_COLORS|CARGO_TARGET_TMPDIR|STRYKER_MUTATOR_WORKER)\b|\btypeof (?:jest|vi|describe|it|expect)\s?[!=]==?|["'](?:pytest|unittest)["'] (?:not )?in sys\.modules|\bprocess\.argv\b[^\n]{0,80}(?:vitest|jest|mocha|test)\b|\btesting\.Testing\(\)|\bflag\.Lookup\(["']test\.|\bcfg!\((?:not\()?test\)|#\[cfg\(not\(test\)\)\]/;

function detections({ path, added }: FileChange, book: RuleReporter): Finding[] {
  return added
    .filter(({ text }) => DETECTS.test(text.slice(0, 1000)) && !/^\s*(?:\/\/|#(?!\[)|\*)/.test(text))
    .slice(0, 5)
    .flatMap(({ line, text }) =>
      book.report("environment-detected", {
        file: path,
        line,
        message: `this code knows whether it is being tested: ${text.trim().slice(0, 120)}`,
        suggestedFix: "Make it do the same under test as elsewhere. Pass what differs in from the caller.",
      }),
    );
}
