import type { Finding } from "../../domain/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { FileChange, FilePair } from "./file-changes.ts";
import { packageChanges, testScripts } from "./package-changes.ts";
import type { RuleBook } from "./rule-book.ts";

export interface RunnerLook {
  /** Every `package.json` that changed, and the project's own in any case: its scripts name what runs the tests. */
  readonly packages: readonly FilePair[];
  readonly changed: readonly string[];
  readonly changes: readonly FileChange[];
  /** The commands by which the work is checked. */
  readonly commands: readonly string[];
  readonly testPaths: readonly string[];
}

/** What changes how tests are run: another script, a config that leaves tests out, another program in the runner's place. */
export function runnerChanges(look: RunnerLook, book: RuleBook): Finding[] {
  return [
    ...packageChanges(look.packages, book),
    ...leftOut(look, book),
    ...commandsGone(look, book),
    ...replacedPrograms(look, book),
    ...ownRules(look, book),
  ];
}

const RUNNER_CONFIG = [
  "**/{vite,vitest,jest,karma,playwright,cypress,ava,web-test-runner}.config.*",
  "**/vitest.{workspace,projects}.*",
  "**/{.mocharc,.taprc}*",
  "**/{pytest.ini,tox.ini,setup.cfg,pyproject.toml,conftest.py,noxfile.py}",
  "**/{Makefile,makefile,justfile,Taskfile.yml,Rakefile}",
  "**/package.json",
];

const CI_CONFIG = [
  ".github/workflows/*",
  ".github/actions/**",
  "{.gitlab-ci,azure-pipelines,bitbucket-pipelines,.travis,appveyor}.yml",
  ".circleci/*",
  "Jenkinsfile",
];

const isRunnerConfig = (path: string): boolean =>
  matchesAnyGlob(path, RUNNER_CONFIG) || matchesAnyGlob(path, CI_CONFIG);

const LEAVES_OUT =
  /\bexclude\b|IgnorePatterns?\b|\btestIgnore\b|--ignore\b|--deselect\b|\bcollect_ignore|\bnorecursedirs\b|\bpassWithNoTests\b|--pass-?[wW]ith-?[nN]o-?[tT]ests\b|\btestNamePattern\b|--test-(?:name|skip)-pattern\b|-k ["']?not |\|\| ?(?:true|:|exit 0)\b|; ?(?:true|exit 0)\s*["']?,?$|\bdangerouslyIgnoreUnhandledErrors\b|--forbid-only=false|\bcontinue-on-error: ?true|\ballow_failure: ?true|\bif: ?(?:false|\$\{\{ ?false)|\bset \+e\b|^\t-\w|\bpytest_collection_modifyitems\b|\bpytest_(?:runtest_makereport|sessionfinish)\b/;

/** What says which files are tests. Another value may leave some out. */
const CHOOSES =
  /\b(include|testMatch|testRegex|testDir|roots|spec|testpaths|python_files|python_functions|python_classes)\b["']?\s{0,5}[:=]\s{0,5}(\[[^\]]{0,500}\]|[^,\n]{0,500})/g;

/** `include` says of coverage what is measured, and of tests which are run: those values name tests. */
function choicesOf(lines: readonly string[]): ReadonlySet<string> {
  const found = lines.flatMap((line) =>
    [...line.slice(0, 2000).matchAll(CHOOSES)].map(([, key, value]) => `${key} ${value}`),
  );
  return new Set(found.filter((choice) => /test|spec/i.test(choice.slice(choice.indexOf(" ")))));
}

function leftOut({ changes }: RunnerLook, book: RuleBook): Finding[] {
  return changes
    .filter(({ path }) => isRunnerConfig(path))
    .flatMap(({ added, removed }) => {
      const chosen = choicesOf(added.map(({ text }) => text));
      const dropped = [...choicesOf(removed)]
        .filter((choice) => !chosen.has(choice))
        .map((choice) => choice.split(" ")[0]!);
      return added
        .filter(({ text }) => {
          const line = text.slice(0, 1000);
          const isOther = dropped.some((key) => new RegExp(`\\b${key}\\b["']?\\s{0,5}[:=]`).test(line));
          return (LEAVES_OUT.test(line) || isOther) && !removed.some((gone) => gone.trim() === text.trim());
        })
        .slice(0, 20)
        .flatMap(({ file, line, text }) =>
          book.breach("tests-left-out", {
            file,
            line,
            message: `this may leave tests out, or hide that they fail: ${short(text.trim())}`,
            suggestedFix: "Take the line out, unless the story asks for it.",
          }),
        );
    });
}

const RUNS_TESTS =
  /\b(?:pytest|vitest|jest|mocha|ava|node --test|go test|cargo (?:test|nextest)|tox|nox|unittest|npm (?:run )?(?:test|check|ci)|(?:pnpm|yarn|bun) (?:run )?test|make (?:test|check)|tsc|eslint|oxlint|mypy|ruff|clippy)\b/;

/** Lines of a makefile, of Python's configs or of CI that ran something, and that are gone. */
function commandsGone({ changes }: RunnerLook, book: RuleBook): Finding[] {
  return changes
    .filter(({ path }) => isRunnerConfig(path) && !path.endsWith("package.json") && !/\.config\.\w+$/.test(path))
    .flatMap(({ path, added, removed }) => {
      const lines = added.map(({ text }) => text.trim());
      const gone = removed
        .map((text) => text.trim())
        .filter((text) => RUNS_TESTS.test(text.slice(0, 1000)) && !text.startsWith("#"))
        .filter((text) => !lines.some((line) => line.includes(text) && !line.startsWith("#")));
      if (gone.length === 0) return [];
      return book.breach("runner-changed", {
        file: path,
        message: `a command that checks the work was taken out or changed: ${short(gone[0]!)}`,
        suggestedFix: "Restore it: the checks must stay what they were when the work began.",
      });
    });
}

/** A program of the project that a check starts, and that the attempt changed. Test files are judged as tests. */
function replacedPrograms({ commands, changed, packages, testPaths }: RunnerLook, book: RuleBook): Finding[] {
  const lines = [...commands, ...packages.flatMap(({ before }) => [...testScripts(before).values()])];
  const programs = new Set(lines.flatMap(programsIn));
  return changed
    .filter((path) => programs.has(path) && !matchesAnyGlob(path, testPaths))
    .flatMap((file) =>
      book.breach("runner-changed", {
        file,
        message: "this program is a part of what judges the work, and it was changed",
        suggestedFix: "Restore it: the checks must stay what they were.",
      }),
    );
}

/** The file that says how work is judged here is not a part of the work. */
function ownRules({ changed }: RunnerLook, book: RuleBook): Finding[] {
  return changed
    .filter((path) => /^remand\.ya?ml$/.test(path))
    .flatMap((file) =>
      book.breach("runner-changed", {
        file,
        message: "this file says how the work is judged, and it was changed",
        suggestedFix: "Restore it: a person changes the rules, not the work that is judged by them.",
      }),
    );
}

/** Programs that run the file they are given. What they are given is a program too; what `grep` is given is not. */
const RUNNERS =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|npx|python[\d.]*|ruby|perl|php|sh|bash|zsh|env|time|nice|timeout|xvfb-run|exec|run)$/;

/** The files that a line for the shell runs: the first word of each command, and what a runner is told to run. */
function programsIn(line: string): string[] {
  return line.split(/[;&|()\n]+/).flatMap((command) => {
    const words = command.split(/[\s"']+/).filter((word) => word !== "" && !/^\w+=/.test(word));
    const programs: string[] = [];
    for (const word of words) {
      if (word.startsWith("-")) continue;
      programs.push(word.replace(/^\.\//, ""));
      if (!RUNNERS.test(word.slice(word.lastIndexOf("/") + 1))) break;
    }
    return programs;
  });
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
