import type { Finding } from "../../core/gates/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { FileChange } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/** Ways to make tests green that are in no test: code that knows when it is tested, and runs that end by their own will. */
export function evasions(changes: readonly FileChange[], testPaths: readonly string[], book: RuleReporter): Finding[] {
  return changes.flatMap((change) => {
    const isTest = matchesAnyGlob(change.path, testPaths);
    if (!isTest && !isCode(change.path)) return [];
    return isTest || isRunnerFile(change.path)
      ? [...forcedExits(change, book), ...patchedAssertions(change, book), ...mockedSubjects(change, book)]
      : detections(change, book);
  });
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

const EXITS =
  /\bprocess\.(?:exit|reallyExit)\(\s?0?\s?\)|\bprocess\.exitCode\s?=\s?0\b|\bos\._exit\(0\)|\bsys\.exit\(0?\)|\bpytest\.exit\(|\bos\.Exit\(0\)|\bprocess::exit\(0\)|\bsession\.exitstatus\s?=\s?0|\boutcome\s?=\s?["']passed["']|\bprocess\.on\(\s?["']exit["']/;

function forcedExits({ path, added }: FileChange, book: RuleReporter): Finding[] {
  return added
    .filter(({ text }) => EXITS.test(text.slice(0, 1000)) && !/^\s*(?:\/\/|#|\*)/.test(text))
    .slice(0, 5)
    .flatMap(({ line, text }) =>
      book.report("exit-forced", {
        file: path,
        line,
        message: `the test run may end before its tests, or say that all is well: ${text.trim().slice(0, 120)}`,
        suggestedFix: "Take it out: the runner ends by itself when the last test has ended.",
      }),
    );
}

const PATCHES =
  /^\s*(?:globalThis\.|global\.|window\.)?(?:assert|expect)\.\w{1,30}\s?=[^=>]|^\s*(?:globalThis|global|window)\.(?:assert|expect)\s?=[^=]|\bTestCase\.assert\w{1,30}\s?=[^=]|\bassert(?:\.\w{1,20})?\.prototype\.\w{1,30}\s?=[^=]|\bexpect\.extend\(\{[^\n]{0,200}\bto(?:Be|Equal|StrictEqual)\b\s?[(:,}]/;

function patchedAssertions({ path, added }: FileChange, book: RuleReporter): Finding[] {
  return added
    .filter(({ text }) => PATCHES.test(text.slice(0, 1000)))
    .slice(0, 5)
    .flatMap(({ line, text }) =>
      book.report("assertion-trivial", {
        file: path,
        line,
        message: `what asserts was replaced: ${text.trim().slice(0, 120)}`,
        suggestedFix: "Take it out: assertions must mean what they say. A new one gets a name of its own.",
      }),
    );
}

const MOCKS =
  /\b(?:vi|jest)\.(?:mock|doMock|unstable_mockModule)\(\s?(?:import\()?\s?["']([^"']{1,300})["']|\bmock\.module\(\s?["']([^"']{1,300})["']|(?:@?(?:mock\.)?\bpatch\(|\bmonkeypatch\.setattr\()\s?["']([\w.]{1,300})["']/;

/** A function of a module that is put in another's place, where the name says that it is the test's own subject. */
const SPIES =
  /\b(?:vi|jest)\.spyOn\(\s?(\w{1,100}),[^\n]{1,200}\.mock(?:Return|Resolved|Rejected|Implementation)|\bmock\.method\(\s?(\w{1,100}),[^\n]{1,100},|\bpatch\.object\(\s?(\w{1,100}),|\bmonkeypatch\.setattr\(\s?(\w{1,100}),/;

/** What is loaded before all tests, and gives a function of the project another meaning. */
const SETS = /^[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,4}\s?=\s?(?:lambda\b|(?:\w+\.)?(?:Magic|Async)?Mock\()/;

/** `add.test.ts` is about `add`: a mock of just that makes the test one of the mock. */
function mockedSubjects({ path, added }: FileChange, book: RuleReporter): Finding[] {
  const own = stemOf(path).replace(/^test[_-]|[._-](?:test|spec)s?$/g, "");
  return added.flatMap(({ line, text }) => {
    const match = MOCKS.exec(text.slice(0, 1000));
    const target = match?.[1] ?? match?.[2] ?? match?.[3];
    const spied = SPIES.exec(text.slice(0, 1000))
      ?.slice(1)
      .find((name) => name !== undefined);
    const isSet = path.endsWith("conftest.py") && SETS.test(text);
    if (!isSet && ((target ?? spied) === undefined || own === "")) return [];
    const isOwn =
      target === undefined
        ? isSet || spied === own
        : match?.[3] === undefined
          ? /^[./@~#]/.test(target) && stemOf(target) === own
          : target.split(".").includes(own);
    if (!isOwn) return [];
    return book.report("subject-mocked", {
      file: path,
      line,
      message: `the test replaces what it is about: ${text.trim().slice(0, 120)}`,
      suggestedFix: "Test the real thing. Replace what it uses, where that must be.",
    });
  });
}

function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replace(/\.(?:[cm]?[jt]sx?|py|go|rs|vue|svelte)$/, "");
}
