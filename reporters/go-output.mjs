/** Collects the events of one package, and returns the text that `go test` prints for it without `-json`. */
export function createGoPackage({ packages, isVerbose }) {
  const all = [];
  const quiet = [];
  const tests = new Map();
  let last = "";
  let failed = false;
  let failedTests = 0;

  function noteTest({ Action, Test, Output }) {
    const test = testOf(tests, Test);
    if (Action === "run" || Action === "cont") moveToEnd(tests, test);
    if (Action === "output") addOutput(test, Output, quiet);
    if (Action === "fail") failedTests++;
    if (Action === "fail" && test.parent === null) quiet.push(...rendered(test, 0));
  }

  return {
    push(event) {
      const { Action, Test, Output } = event;
      if (Action === "output") all.push(Output);
      if (Test !== undefined) return noteTest(event);
      if (Action === "output" && !Output.startsWith("=== ")) quiet.push((last = Output));
      failed ||= Action === "fail" || Output?.startsWith("FAIL\t") === true;
    },
    text() {
      if (isVerbose) return all.join("");
      // Of a package that passes, only the last line is printed, unless it is the package in the working folder.
      return failed || packages.length === 0 ? quiet.join("") : last;
    },
    hasFailed: () => failed,
    /** Whether the package failed without a failed test: it was not built, or ended before its tests. */
    isUnloaded: () => failed && failedTests === 0,
  };
}

function testOf(tests, name) {
  const known = tests.get(name);
  if (known !== undefined) return known;
  const slash = name.lastIndexOf("/");
  // A name may contain slashes of its own.
  const parent = slash === -1 ? null : (tests.get(name.slice(0, slash)) ?? null);
  const test = { name, parent, items: [], tail: [], head: null, outcome: null, isLog: false };
  tests.set(name, test);
  parent?.items.push(test);
  return test;
}

/** Moves a subtest's log in its parent's report to where the subtest ran last. */
function moveToEnd(_tests, test) {
  const items = test.parent?.items;
  if (items === undefined || items.at(-1) === test) return;
  items.splice(items.indexOf(test), 1);
  items.push(test);
}

function addOutput(test, output, quiet) {
  if (/^=== (?:RUN|PAUSE|CONT|NAME)\s/.test(output)) return;
  const result = /^ *--- (PASS|FAIL|SKIP|BENCH): /.exec(output);
  if (result !== null && test.head === null) {
    test.head = output.trimStart();
    test.outcome = result[1];
    return;
  }
  // Output after the result belongs to it: the diff of an example, a panic.
  if (test.head !== null) return void test.tail.push(output);
  test.isLog = /^ {4}\S+\.go:\d+: /.test(output) || (test.isLog && /^ {8}|^\n$/.test(output));
  if (test.isLog) test.items.push(output);
  else quiet.push(output);
}

function rendered(test, depth) {
  if (test.outcome !== "FAIL") return [];
  const indent = "    ".repeat(depth);
  const items = test.items.flatMap((item) =>
    typeof item === "string" ? [`${indent}${item}`] : rendered(item, depth + 1),
  );
  return [`${indent}${test.head}`, ...items, ...test.tail];
}
