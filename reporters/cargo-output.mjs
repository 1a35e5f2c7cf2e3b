/** Parses the output of Cargo and of the test programs that it runs. */

const OUTCOMES = { ok: "passed", FAILED: "failed", ignored: "skipped" };

/** Reads one block per test program, from `running 3 tests` to `test result: …`. */
export function readBlocks(text) {
  const blocks = [];
  let block = null;
  let isList = false;
  for (const line of text.split(/\r?\n/)) {
    if (/^running \d+ tests?$/.test(line)) blocks.push((block = newBlock()));
    if (block === null) continue;
    const test = /^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$/.exec(line);
    if (test !== null) block.tests.set(test[1], OUTCOMES[test[2]]);
    if (line === "failures:") isList = true;
    const failed = isList ? /^ {4}(\S.*)$/.exec(line) : null;
    if (failed !== null) block.failed.add(failed[1]);
    const sum = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/.exec(line);
    if (sum === null) continue;
    block.finish({ passed: Number(sum[1]), failed: Number(sum[2]), ignored: Number(sum[3]) });
    block = null;
    isList = false;
  }
  return blocks;
}

function newBlock() {
  const block = {
    tests: new Map(),
    failed: new Set(),
    counts: { passed: 0, failed: 0, ignored: 0 },
    /** Whether as many tests are named as were counted, with the same outcomes. */
    isComplete: false,
    isQuiet: false,
    finish(counts) {
      block.counts = counts;
      block.isQuiet = block.tests.size === 0 && counts.passed + counts.failed + counts.ignored > 0;
      block.isComplete = agrees(block.tests, counts);
    },
    fillIn(list, ignored) {
      const outcome = (name) => (block.failed.has(name) ? "failed" : ignored.has(name) ? "skipped" : "passed");
      block.tests = new Map(list.map((name) => [name, outcome(name)]));
      block.isComplete = agrees(block.tests, block.counts);
    },
  };
  return block;
}

function agrees(tests, { passed, failed, ignored }) {
  const number = (outcome) => [...tests.values()].filter((each) => each === outcome).length;
  return number("passed") === passed && number("failed") === failed && number("skipped") === ignored;
}

/** Reads the output of `--list`: one list per test program. */
export function readLists(text) {
  const lists = [];
  let list = [];
  for (const line of text.split(/\r?\n/)) {
    const test = /^(\S.*): test$/.exec(line);
    if (test !== null) list.push(test[1]);
    if (!/^\d+ tests?, \d+ benchmarks?$/.test(line)) continue;
    lists.push(list);
    list = [];
  }
  return lists;
}

/** Reads the test programs in order: the file that each was built from, and its crate. */
export function readHeads(text) {
  return text.split(/\r?\n/).flatMap((line) => {
    const program = /^\s+Running (?:unittests )?(\S+\.rs) \((?:.*[\\/])?(\S+?)-[0-9a-f]{16}(?:\.exe)?\)$/.exec(line);
    if (program !== null) return [{ path: program[1], crate: program[2], isDoc: false }];
    const docs = /^\s+Doc-tests (\S+)$/.exec(line);
    return docs === null ? [] : [{ path: null, crate: docs[1], isDoc: true }];
  });
}
