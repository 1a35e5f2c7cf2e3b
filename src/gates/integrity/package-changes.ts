import type { Finding } from "../../core/gates/finding.ts";
import type { FilePair } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

export const PACKAGE_FILE = /(?:^|\/)package\.json$/;

/** What a change of a `package.json` does to the tests: their scripts, and the programs those start. */
export function packageChanges(
  packages: readonly FilePair[],
  own: string,
  started: ReadonlySet<string>,
  book: RuleReporter,
): Finding[] {
  return packages.flatMap((file) => [
    ...scripts(file, file.path === own ? started : new Set(), book),
    ...runners(file, book),
  ]);
}

/** Those that are called after tests, and those that the checks start, whatever they are called. */
function scripts({ path, before, after }: FilePair, started: ReadonlySet<string>, book: RuleReporter): Finding[] {
  const judging = (text: string | null): Map<string, string> =>
    new Map(
      [...allScripts(text)].filter(([name]) => {
        const plain = name.replace(/^(?:pre|post)/, "");
        return TESTS.test(name) || started.has(name) || started.has(plain);
      }),
    );
  const was = judging(before);
  const is = judging(after);
  const changed = [...was].flatMap(([name, script]) => {
    const now = is.get(name);
    // The one that npm writes for a project without tests is there to be replaced.
    if (now === script || script.includes("no test specified")) return [];
    const suggestedFix = "Restore the script: the checks must stay what they were when the work began.";
    if (now === undefined)
      return book.report("runner-changed", {
        file: path,
        message: `the script \`${name}\` was taken out`,
        suggestedFix,
      });
    const message = `the script \`${name}\` was changed from \`${short(script)}\` to \`${short(now)}\``;
    const isMore =
      now.includes(script) && !/^\s*(?:true|:|exit|echo)\b|#/.test(now) && !WIDE_OPEN.test(now.replace(script, ""));
    return book.report(isMore ? "runner-adjusted" : "runner-changed", { file: path, message, suggestedFix });
  });
  const hooks = [...is].flatMap(([name, script]) =>
    /^(?:pre|post)/.test(name) && !was.has(name) && was.has(name.replace(/^(?:pre|post)/, ""))
      ? book.report(TOUCHES_FILES.test(script) ? "runner-changed" : "runner-adjusted", {
          file: path,
          message: `the script \`${name}\` now runs with the tests: \`${short(script)}\``,
          suggestedFix: "Take it out, unless the story asks for it.",
        })
      : [],
  );
  return [...changed, ...hooks];
}

/** What a script before or after the tests may do to them. */
const TOUCHES_FILES =
  /\b(?:rm|mv|cp|truncate|rimraf|del|unlink\w*|writeFile\w*|rmSync)\b|sed -i|\bgit (?:checkout|stash|rm|restore)\b|>/;

/** What turns a command that fails into one that does not, or lets it look at less. */
const WIDE_OPEN =
  /\|\||;|\bexit 0\b|-t \S|--grep|--test-name-pattern|--test-skip-pattern|--testNamePattern|--exclude|--ignore|[wW]ith-?[nN]o-?[tT]ests|\|\s*(?:cat|tee|true)\b|\s-u\b|--update(?:-?[sS]napshots?)?\b|--(?:changed|onlyChanged|findRelatedTests|related|last-failed|lf|collect-only|listTests|dry-run|deselect|retry|retries|reruns)\b|\s-[km] /;

export const allScripts = (text: string | null): Map<string, string> => stringsIn(text, "scripts", /./);

const TESTS = /^(?:pre|post)?(?:test|check|verify|ci|lint|typecheck|types|coverage)(?:[:._-]|$)/;

export const testScripts = (text: string | null): Map<string, string> => stringsIn(text, "scripts", TESTS);

const RUNNER_NAMES =
  /^(?:vitest|jest|mocha|ava|tap|jasmine|karma|playwright|@playwright\/test|cypress|c8|nyc|typescript|eslint|oxlint|@biomejs\/biome|@vitest\/.*|@stryker-mutator\/.*)$/;

/** A runner that is taken from a folder of the project, or that is not there any more. */
function runners({ path, before, after }: FilePair, book: RuleReporter): Finding[] {
  return ["dependencies", "devDependencies", "overrides", "resolutions"].flatMap((kind) => {
    const was = stringsIn(before, kind, RUNNER_NAMES);
    const is = stringsIn(after, kind, RUNNER_NAMES);
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
      const now = is.get(name);
      const isLocal =
        now !== undefined &&
        now !== was.get(name) &&
        /^(?:file|link|portal|workspace|npm|git|https?):|^[.~/]/.test(now);
      if (!isLocal && !(now === undefined && !after?.includes(`"${name}"`))) return [];
      return book.report("runner-changed", {
        file: path,
        message: now === undefined ? `\`${name}\` was taken out` : `\`${name}\` now comes from \`${short(now)}\``,
        suggestedFix: "Restore it: the checks must be run by what ran them before.",
      });
    });
  });
}

function stringsIn(text: string | null, part: string, names: RegExp): Map<string, string> {
  const found = new Map<string, string>();
  try {
    const whole = JSON.parse(text ?? "{}") as Readonly<Record<string, unknown>> | null;
    for (const [name, value] of Object.entries(whole?.[part] ?? {})) {
      if (names.test(name) && typeof value === "string") found.set(name, value);
    }
  } catch {
    // A file that is no JSON has no scripts; that it is broken shows when the checks run.
  }
  return found;
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
