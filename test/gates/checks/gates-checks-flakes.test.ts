import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { before, checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
const runs = (): number =>
  existsSync(join(bench.folder(), "runs")) ? readFileSync(join(bench.folder(), "runs"), "utf8").length : 0;

/** Makes a check that fails these tests in each run; the last entry repeats. */
function unit(...rounds: readonly (readonly string[])[]): { name: string; run: string } {
  const text = rounds.map((failed, at) => {
    const lines = ["TAP version 13", ...["a", "b"].map((name, index) => `${failed.includes(name) ? "not ok" : "ok"} ${index + 1} - ${name}`), "1..2"]; // prettier-ignore
    return `${at === rounds.length - 1 ? "*" : at + 1}) printf '${lines.join("\\n")}\\n'; exit ${failed.length === 0 ? 0 : 1};;`;
  });
  writeFileSync(join(bench.folder(), "unit.sh"), `printf x >> runs\ncase $(wc -c < runs | tr -d ' ') in\n${text.join("\n")}\nesac\n`); // prettier-ignore
  return { name: "unit", run: "sh unit.sh" };
}

describe("a failed test run", () => {
  test("that passes on the same tree is flaky, and proves nothing", async () => {
    const judgement = await bench.judge([unit(["a"], [])], { reruns: 1 });
    expect(judgement).toMatchObject({
      result: "inconclusive",
      blocking: [],
      flaky: ["unit > a"],
      findings: [
        {
          severity: "info",
          category: "flaky",
          symbol: "a",
          source: "unit",
          message: "a is flaky: it passed and failed on the same code",
        },
      ],
      runs: [
        { result: "inconclusive", details: "flaky: 1 of 2 tests failed, and none when it ran again on the same tree" },
      ],
    });
    expect(judgement.failure).toBeUndefined();
    expect(judgement.evidence).toHaveLength(2);
    expect(runs()).toBe(2);
  });

  test("that fails each time is a failure", async () => {
    const judgement = await bench.judge([unit(["a"])], { reruns: 2 });
    expect(judgement).toMatchObject({ result: "fail", blocking: [expect.any(String)] });
    expect(judgement.flaky).toBeUndefined();
    expect(runs()).toBe(3);
  });

  test("with one test that fails each time and one that does not has one to fix, and names the other", async () => {
    const judgement = await bench.judge([unit(["a", "b"], ["a"])], { reruns: 1 });
    expect(judgement).toMatchObject({ result: "fail", flaky: ["unit > b"] });
    const blocking = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
    expect(blocking.map(({ symbol }) => symbol)).toEqual(["a"]);
  });

  test("in which other tests fail the next time proves nothing", async () => {
    expect(await bench.judge([unit(["a"], ["b"])], { reruns: 1 })).toMatchObject({
      result: "inconclusive",
      flaky: ["unit > a", "unit > b"],
    });
  });

  test("counts as failed without reruns", async () => {
    expect(await bench.judge([unit(["a"], [])], { reruns: 0 })).toMatchObject({ result: "fail" });
    expect(runs()).toBe(1);
  });

  test("counts as failed if an earlier tree failed in the same way", async () => {
    const check = unit(["a"]);
    const first = await bench.judge([check], { reruns: 0 });
    await bench.judge([check], { reruns: 1 }, { last: before(first) });
    expect(runs()).toBe(2);
    // Says nothing about this same tree yet.
    await bench.judge([check], { reruns: 1 }, { last: first });
    expect(runs()).toBe(4);
  });

  test("repeats only what failed", async () => {
    await bench.judge(["printf y >> other", unit(["a"], [])], { reruns: 1 });
    expect(readFileSync(join(bench.folder(), "other"), "utf8")).toBe("y");
  });

  test("that breaks the second time is still a failure", async () => {
    const run =
      "printf x >> runs; test $(wc -c < runs) -gt 1 && exit 127; printf 'TAP version 13\\nnot ok 1 - a\\n1..1\\n'; exit 1";
    expect(await bench.judge([run], { reruns: 1 })).toMatchObject({ result: "fail" });
  });
});

test("compilers, linters and unreadable output are not run again", async () => {
  await bench.judge(["printf x >> runs; echo 'a.ts(1,2): error TS1: no'; exit 1"], { reruns: 3 });
  await bench.judge(["printf x >> runs; exit 1"], { reruns: 3 });
  expect(runs()).toBe(2);
});

describe("a known flaky test", () => {
  const flakes =
    (trees: readonly string[], stories: readonly string[] = ["checkout"]) =>
    () =>
      Promise.resolve([{ name: "unit > a", times: 3, trees, stories }]);

  test("is marked when it fails, with the same finding", async () => {
    const plain = await bench.judge([unit(["a"])], { reruns: 1 });
    const marked = await bench.judge([unit(["a"])], { reruns: 1, flakes: flakes([]) });
    expect(marked.findings[0]!.detail).toMatch(
      /^Known to be flaky: it passed and failed on the same code 3 times before\./,
    );
    expect(marked.failure).toBe(plain.failure);
  });

  test("that failed on this same tree before is not proven by a pass", async () => {
    const judgement = await bench.judge([unit([])], { flakes: flakes(["tree-now"]) });
    expect(judgement).toMatchObject({ result: "inconclusive" });
    expect(judgement.summary).toContain("unit > a failed on this very tree before, so that passing now proves nothing");
    expect(await bench.judge([unit([])], { flakes: flakes(["another"]) })).toMatchObject({ result: "pass" });
  });

  describe("is quarantined", () => {
    const flakyAtBase = { atBase: { failing: [], flaky: ["unit > a"], known: [], targets: [] } };

    test("if it was flaky at the base: its failure is a note", async () => {
      const judgement = await bench.judge([unit(["a"])], { reruns: 1 }, flakyAtBase);
      expect(judgement).toMatchObject({
        result: "pass",
        notes: ["1 quarantined flaky test: unit > a"],
        findings: [{ severity: "info", symbol: "a" }],
      });
      expect(await bench.judge([unit(["a", "b"])], { reruns: 1 }, flakyAtBase)).toMatchObject({ result: "fail" });
    });

    test("if it was flaky in another story, unless it fails each time", async () => {
      const elsewhere = { reruns: 1, flakes: flakes(["another"], ["other-story"]) };
      const judgement = await bench.judge([unit(["a"], [])], elsewhere);
      expect(judgement).toMatchObject({ result: "pass", notes: ["1 quarantined flaky test: unit > a"] });
      rmSync(join(bench.folder(), "runs"));
      expect(await bench.judge([unit(["a"])], elsewhere)).toMatchObject({ result: "fail" });
      rmSync(join(bench.folder(), "runs"));
      expect(await bench.judge([unit(["b"], [])], elsewhere)).toMatchObject({ result: "inconclusive" });
    });

    test("if a person lists it as failing, unless it fails each time", async () => {
      const known = { atBase: { failing: [], flaky: [], known: [{ test: "a", reason: "by chance" }], targets: [] } };
      const judgement = await bench.judge([unit(["a"], [])], { reruns: 1 }, known);
      expect(judgement).toMatchObject({ result: "pass", notes: ["1 quarantined flaky test: unit > a"] });
      rmSync(join(bench.folder(), "runs"));
      expect(await bench.judge([unit(["a"])], { reruns: 1 }, known)).toMatchObject({ result: "fail" });
    });

    test("and a pass on a tree that it failed on before is a pass", async () => {
      const elsewhere = { flakes: flakes(["tree-now"], ["other-story"]) };
      expect(await bench.judge([unit([])], elsewhere)).toMatchObject({ result: "pass" });
    });

    test("but never if it is a target, nor if only this story saw it flaky", async () => {
      const target = { atBase: { failing: [], flaky: [], known: [], targets: ["unit > a"] } };
      const elsewhere = { reruns: 1, flakes: flakes([], ["other-story"]) };
      expect(await bench.judge([unit(["a"], [])], elsewhere, target)).toMatchObject({ result: "inconclusive" });
      rmSync(join(bench.folder(), "runs"));
      const own = { reruns: 1, flakes: flakes([]) };
      expect(await bench.judge([unit(["a"], [])], own)).toMatchObject({ result: "inconclusive" });
    });
  });
});
