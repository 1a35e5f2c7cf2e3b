import type { Finding } from "../../core/gates/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { type RunChain, makeRules } from "../checks/run-chain.ts";
import type { FileChange, FilePair } from "./file-changes.ts";
import { packageChanges } from "./package-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

export interface RunnerLook extends JudgingLook {
  /** Every `package.json` that changed, and the project's own in any case: its scripts name what runs the tests. */
  readonly packages: readonly FilePair[];
  /** The path of the project's own. */
  readonly ownPackage: string;
}

/** What changes how tests are run: another script, a config that leaves tests out, another program in the runner's place. */
export function runnerChanges(look: RunnerLook, book: RuleReporter): Finding[] {
  return [
    ...packageChanges(look.packages, look.ownPackage, look.chain.scripts, book),
    ...leftOut(look, book),
    ...adjustedRunner(look, book),
    ...commandsGone(look, book),
    ...judgingPrograms(look, book),
    ...ignoredFiles(look, book),
    ...filteredFiles(look, book),
    ...ownRules(look, book),
  ];
}

const RUNNER_CONFIG = [
  "**/{vite,vitest,jest,karma,playwright,cypress,ava,web-test-runner}.config.*",
  "**/vitest.{workspace,projects}.*",
  "**/{.mocharc,.taprc}*",
  "**/{pytest.ini,tox.ini,setup.cfg,pyproject.toml,conftest.py,noxfile.py}",
  "**/{Makefile,makefile,GNUmakefile,justfile,Taskfile.yml,Rakefile}",
  "**/{.npmrc,.yarnrc,.yarnrc.yml,bunfig.toml,deno.json,deno.jsonc,.rspec}",
  "**/{Cargo.toml,nextest.toml,pom.xml,build.gradle,build.gradle.kts,phpunit.xml,phpunit.xml.dist}",
  "**/.cargo/config*",
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

/** Where packages are made, too, this word speaks of other things. */
const EXCLUDES = /\bexclude\b/;
const speaksOfPackages = (path: string): boolean => /\.(?:toml|cfg|xml|gradle|kts)$/.test(path);

const LEAVES_OUT =
  /IgnorePatterns?\b|\btestIgnore\b|--ignore\b|--deselect\b|\bcollect_ignore|\bnorecursedirs\b|\bpassWithNoTests\b|--pass-?[wW]ith-?[nN]o-?[tT]ests\b|\btestNamePattern\b|--test-(?:name|skip)-pattern\b|-k ["']?not |\|\| ?(?:true|:|exit 0)\b|; ?(?:true|exit 0)\s*["']?,?$|\bdangerouslyIgnoreUnhandledErrors\b|--forbid-only=false|\bcontinue-on-error: ?true|\ballow_failure: ?true|\bif: ?(?:false|\$\{\{ ?false)|\bset \+e\b|^\t-\w|\bpytest_(?:collection_modifyitems|ignore_collect|pycollect_makeitem|itemcollected|pyfunc_call|runtest_(?:makereport|call|protocol)|report_teststatus|sessionfinish|cmdline_main)\b|\baddopts\b[^\n]{0,300}\s-[km]\b|^\s+-[km] ["'\w]|--(?:collect-only|co|last-failed|lf|stepwise|listTests|onlyChanged)\b|\bgrep(?:Invert)?["']?\s{0,3}[:=]|\bupdateSnapshots?["']?\s{0,3}[:=]\s{0,3}["'](?:all|changed)|^\s{0,8}(?:script-shell|shell)\s?=|^\s{0,8}node-options\s?=[^\n]{0,200}(?:--require|--import|loader|-r )|^\s{0,8}(?:test|autotests)\s?=\s?false\b|^\s{0,8}runner\s?=|\bdefault-filter\b|\bskipTests\b|maven\.test\.skip|\btestFailureIgnore\b|\bignoreFailures\b/;

/** What lets other code run than that which is meant, or loads something before the tests. Much of it is honest. */
const ADJUSTS =
  /\b(?:setupFiles(?:AfterEnv)?|globalSetup|moduleNameMapper|alias|testRunner|resolver|preload)["']?\s{0,3}[:=]|\brunner["']?\s{0,3}:/;

const RETRIES = /\b(?:retry|retries)["']?\s{0,3}[:=]\s{0,3}[1-9]|--(?:reruns|retries|retry)[ =][1-9]/;

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

/** One file of tests by its name, in a config that is new: all others are left out. */
const NAMES_ONE =
  /\b(?:include|testMatch|testRegex|spec|testpaths)\b["']?\s{0,5}[:=][^\n*]{0,200}\w[._-](?:test|spec)\.\w/;

function leftOut({ changes }: RunnerLook, book: RuleReporter): Finding[] {
  const configs = changes.filter(({ path }) => isRunnerConfig(path));
  // A config that got another name is still the same config.
  const goneWith = configs.filter(({ status }) => status === "deleted").flatMap(({ removed }) => removed);
  return configs
    .filter(({ status }) => status !== "deleted")
    .flatMap(({ path, status, added, removed: own }) => {
      const removed = status === "added" ? goneWith : own;
      const chosen = choicesOf(added.map(({ text }) => text));
      const dropped = [...choicesOf(removed)]
        .filter((choice) => !chosen.has(choice))
        .map((choice) => choice.split(" ")[0]!);
      return added
        .filter(({ text }) => {
          const line = text.slice(0, 1000);
          const isOther = dropped.some((key) => new RegExp(`\\b${key}\\b["']?\\s{0,5}[:=]`).test(line));
          const isLeft =
            LEAVES_OUT.test(line) ||
            (EXCLUDES.test(line) && !speaksOfPackages(path)) ||
            (status === "added" && NAMES_ONE.test(line));
          return (isLeft || isOther) && !removed.some((gone) => gone.trim() === text.trim());
        })
        .slice(0, 20)
        .flatMap(({ file, line, text }) =>
          book.report("tests-left-out", {
            file,
            line,
            message: `this may leave tests out, or hide that they fail: ${short(text.trim())}`,
            suggestedFix: "Take the line out, unless the story asks for it.",
          }),
        );
    });
}

/** What may be honest, and is worth a look. */
function adjustedRunner({ changes }: RunnerLook, book: RuleReporter): Finding[] {
  const marks = [
    ["runner-adjusted", ADJUSTS, "this changes what the tests run"],
    ["test-retried", RETRIES, "tests may now be tried again when they fail"],
  ] as const;
  return changes
    .filter(({ path }) => isRunnerConfig(path) && !matchesAnyGlob(path, CI_CONFIG) && !path.endsWith("package.json"))
    .flatMap(({ added, removed }) =>
      marks.flatMap(([rule, pattern, what]) =>
        added
          .filter(({ text }) => pattern.test(text.slice(0, 1000)))
          .filter(({ text }) => !removed.some((gone) => gone.trim() === text.trim()))
          .slice(0, 3)
          .flatMap(({ file, line, text }) =>
            book.report(rule, {
              file,
              line,
              message: `${what}: ${short(text.trim())}`,
              suggestedFix: "Take the line out, unless the story asks for it.",
            }),
          ),
      ),
    );
}

/** A config or test that git ignores is in no diff, yet it still runs; or never runs again. */
function ignoredFiles({ changes }: RunnerLook, book: RuleReporter): Finding[] {
  return changes
    .filter(({ path }) => /(?:^|\/)\.gitignore$/.test(path))
    .flatMap(({ added }) =>
      added
        .filter(({ text }) => {
          const name = text.trim().replace(/^\/|\/(?:\*{1,2})?$/g, "");
          return (
            (isRunnerConfig(name) && !/[*]/.test(name) && !/(?:^|\/)\.npmrc$/.test(name)) ||
            /^(?:\*\*\/)?(?:tests?|__tests__|spec|conftest\.py)$|[._-](?:test|spec)\.(?:\*|[cm]?[jt]sx?|py)$/.test(name)
          );
        })
        .flatMap(({ file, line, text }) =>
          book.report("runner-changed", {
            file,
            line,
            message: `git is told not to look at what judges the work: ${short(text.trim())}`,
            suggestedFix: "Take the line out: tests and their configs belong to the project.",
          }),
        ),
    );
}

/** A filter shows git another text than the one that runs. The well-known filter of Git LFS is allowed. */
function filteredFiles({ changes }: RunnerLook, book: RuleReporter): Finding[] {
  return changes
    .filter(({ path }) => /(?:^|\/)\.gitattributes$/.test(path))
    .flatMap(({ added }) =>
      added
        .filter(({ text }) => /\bfilter=(?!lfs\b)/.test(text))
        .flatMap(({ file, line, text }) =>
          book.report("not-looked-at", {
            file,
            line,
            message: `git is told to see other text in files than what is there: ${short(text.trim())}`,
            suggestedFix: "Take the line out, unless the story asks for it.",
          }),
        ),
    );
}

const RUNS_TESTS =
  /\b(?:pytest|vitest|jest|mocha|ava|node --test|go test|cargo (?:test|nextest)|tox|nox|unittest|npm (?:run )?(?:test|check|ci)|(?:pnpm|yarn|bun) (?:run )?test|make (?:test|check)|tsc|eslint|oxlint|mypy|ruff|clippy)\b/;

/** Lines of a makefile, of Python's configs or of CI that ran something, and that are gone. */
function commandsGone({ changes }: RunnerLook, book: RuleReporter): Finding[] {
  return changes
    .filter(({ path }) => isRunnerConfig(path) && !path.endsWith("package.json") && !/\.config\.\w+$/.test(path))
    .flatMap(({ path, added, removed }) => {
      const lines = added.map(({ text }) => text.trim());
      const gone = removed
        .map((text) => text.trim())
        .filter((text) => RUNS_TESTS.test(text.slice(0, 1000)) && !text.startsWith("#"))
        .filter((text) => !lines.some((line) => line.includes(text) && !line.startsWith("#")));
      if (gone.length === 0) return [];
      return book.report("runner-changed", {
        file: path,
        message: `a command that checks the work was taken out or changed: ${short(gone[0]!)}`,
        suggestedFix: "Restore it: the checks must stay what they were when the work began.",
      });
    });
}

/** The file that says how work is judged here is not a part of the work. */
function ownRules({ changed, ownPackage }: RunnerLook, book: RuleReporter): Finding[] {
  const folder = ownPackage.slice(0, -"package.json".length);
  return changed
    .filter((path) => ["", folder].some((each) => [`${each}remand.yaml`, `${each}remand.yml`].includes(path)))
    .flatMap((file) =>
      book.report("runner-changed", {
        file,
        message: "this file says how the work is judged, and it was changed",
        suggestedFix:
          "Restore it: a person changes the rules, not the work that is judged by them. In a pull request the approval of its code owner lets the change through.",
      }),
    );
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

export interface JudgingLook {
  readonly changed: readonly string[];
  readonly changes: readonly FileChange[];
  readonly chain: RunChain;
  /** The makefiles of the chain, in two states. */
  readonly makefiles: readonly FilePair[];
  readonly testPaths: readonly string[];
}

/** Programs of the project that a check starts, or that shadow those that it means to start. */
function judgingPrograms(look: JudgingLook, book: RuleReporter): Finding[] {
  return [...replacedPrograms(look, book), ...recipes(look, book), ...shadows(look, book)];
}

/** Test files are judged as tests. */
function replacedPrograms({ chain, changed, testPaths }: JudgingLook, book: RuleReporter): Finding[] {
  return changed
    .filter((path) => chain.programs.has(path) && !matchesAnyGlob(path, testPaths))
    .flatMap((file) =>
      book.report("runner-changed", {
        file,
        message: "this program is a part of what judges the work, and it was changed",
        suggestedFix: "Restore it: the checks must stay what they were.",
      }),
    );
}

/** What a target runs that a check asks for. More may be added; other targets do not matter here. */
function recipes({ chain, makefiles }: JudgingLook, book: RuleReporter): Finding[] {
  return makefiles.flatMap(({ path, before, after }) => {
    const was = makeRules(before ?? "");
    const is = makeRules(after ?? "");
    const gone = [...(chain.targets.get(path) ?? [])].flatMap((name) => {
      const now = new Set(is.get(name)?.recipe);
      return was.get(name)!.recipe.filter((line) => !now.has(line));
    });
    if (gone.length === 0) return [];
    return book.report("runner-changed", {
      file: path,
      message: `a command that checks the work was taken out or changed: ${gone[0]!.slice(0, 120)}`,
      suggestedFix: "Restore it: the checks must stay what they were when the work began.",
    });
  });
}

/** A file whose name is that of a runner, or that is loaded before it: it runs in the runner's place. */
const SHADOWS =
  /^(?:src\/|tests?\/)?(?:pytest|_pytest|unittest|nose2?|coverage|mypy|sitecustomize|usercustomize)(?:\.py|\/__init__\.py)$/;

/** Make takes the first of these three that it finds. */
const MAKEFILE = /(?:GNUm|m|M)akefile$/;
const comesBefore = (path: string, file: string): boolean =>
  /(?:GNUm|m)akefile$/.test(path) && path !== file && path.replace(MAKEFILE, "") === file.replace(MAKEFILE, "");

function shadows({ changes, chain }: JudgingLook, book: RuleReporter): Finding[] {
  const makefiles = [...chain.targets.keys()];
  return changes
    .filter(({ status }) => status === "added")
    .filter(({ path }) => SHADOWS.test(path) || makefiles.some((file) => comesBefore(path, file)))
    .flatMap(({ path }) =>
      book.report("runner-changed", {
        file: path,
        message: "a file of this name is run in the place of what checks the work",
        suggestedFix: "Take it out, or give it another name.",
      }),
    );
}
