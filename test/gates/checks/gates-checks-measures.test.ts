import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryEvidence } from "../../contract/gate.ts";
import { before, checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
const lcov = (covered: number, total = 1000, branches = ""): string =>
  `SF:a.ts\\nLF:${total}\\nLH:${covered}\\n${branches}end_of_record\\n`;
const cover = (covered: number, branches?: string): string => `printf '${lcov(covered, 1000, branches)}' > lcov.info`;
const report = "lcov.info";

describe("coverage", () => {
  test("is reported, and enough is a pass", async () => {
    const judgement = await bench.judge([cover(812, "BRF:10\\nBRH:9\\n")], {
      coverage: { report, lines: 80, branches: 90 },
    });
    expect(judgement).toMatchObject({
      result: "pass",
      coverage: { lines: 81.2, branches: 90 },
      most: { lines: 81.2, branches: 90 },
    });
  });

  test("below the limit fails, with the figure in the detail and not in the identity", async () => {
    const [one, other] = [
      await bench.judge([cover(712)], { coverage: { report, lines: 80 } }),
      await bench.judge([cover(713)], { coverage: { report, lines: 80 } }),
    ];
    expect(one).toMatchObject({
      result: "fail",
      findings: [
        {
          severity: "major",
          category: "coverage",
          message: "line coverage is below the 80 % that are asked for",
          detail: "It is 71.2 %.",
        },
      ],
      summary: "checks: fail (coverage: line coverage is below the 80 % that are asked for), 1 to fix",
    });
    expect(one.blocking).toEqual([one.findings[0]!.id]);
    expect(other.failure).toBe(one.failure);
  });

  test("of branches that is required and not reported is a finding", async () => {
    expect(await bench.judge([cover(900)], { coverage: { report, branches: 50 } })).toMatchObject({
      result: "fail",
      findings: [{ message: "branch coverage is asked for, and the report says nothing about it" }],
    });
  });

  // S4.87
  test("less than before is a blocking finding, and resubmitting the same work changes nothing", async () => {
    const first = await bench.judge([{ name: "unit", run: `${cover(800)};` }], { coverage: { report } });
    const run = (covered: number, mayFall?: number, last = before(first)) => {
      const coverage = { report, ...(mayFall === undefined ? {} : { mayFall }) };
      // The same command each time, so that the rounds can be compared.
      writeFileSync(join(bench.folder(), "next"), lcov(covered).replaceAll("\\n", "\n"));
      return bench.judge([{ name: "unit", run: "cp next lcov.info" }], { coverage }, { last: { ...last, runs: [{ ...last.runs![0]!, command: "cp next lcov.info" }] } }); // prettier-ignore
    };
    const fallen = await run(780);
    expect(fallen).toMatchObject({
      result: "fail",
      findings: [{ message: "line coverage is less than before", detail: "It was 80 %, and is 78 % now." }],
      most: { lines: 80 },
    });
    expect(await run(780, undefined, before(fallen))).toMatchObject({ result: "fail" });
    expect(await run(800, undefined, before(fallen))).toMatchObject({ result: "pass" });
    expect(await run(780, 2)).toMatchObject({ result: "pass" });
    expect(await run(779, 2)).toMatchObject({ result: "fail" });
  });

  test("of other checks than before is not compared", async () => {
    const first = await bench.judge([cover(800)], { coverage: { report } });
    expect(await bench.judge([cover(700)], { coverage: { report } }, { last: before(first) })).toMatchObject({
      result: "pass",
    });
  });

  test.each([
    ["is missing", "true", /no check left a coverage report that is called lcov\.info/],
    ["is old", "test -f lcov.info || true", /older than the run/],
    ["cannot be read", "echo x > lcov.info", /lcov\.info cannot be read: it is neither lcov/],
  ])("that %s proves nothing", async (what, run, why) => {
    if (what === "is old") {
      writeFileSync(join(bench.folder(), report), "SF:a\nLF:1\nLH:1\nend_of_record\n");
      utimesSync(join(bench.folder(), report), new Date(0), new Date(0));
    }
    const judgement = await bench.judge([run], { coverage: { report } });
    expect(judgement).toMatchObject({ result: "inconclusive", findings: [] });
    expect(judgement.summary).toMatch(why);
  });

  test("that a failed run did not write is ignored", async () => {
    expect((await bench.judge(["exit 1"], { coverage: { report } })).summary).not.toContain("coverage");
  });

  test("of several reports is added up", async () => {
    const run = `printf '${lcov(50, 100)}' > a.info; printf '${lcov(0, 100)}' > b.info`;
    expect(await bench.judge([run], { coverage: { report: "*.info" } })).toMatchObject({ coverage: { lines: 25 } });
  });
});

describe("the number of tests", () => {
  const ran = (passed: number, skipped = 0): string => `echo '=== ${passed} passed, ${skipped} skipped in 0.1s ==='`;
  /** Changes what runs under the same command. */
  async function round(
    line: string,
    last: Awaited<ReturnType<typeof bench.judge>> | null,
    message: string | null = null,
  ) {
    writeFileSync(join(bench.folder(), "test.sh"), line);
    const evidence = memoryEvidence();
    const kept = message === null ? null : await evidence.keep(message);
    return bench.judge(["sh test.sh"], { evidence }, { last: last === null ? null : before(last), message: kept });
  }

  test("below the previous one, without a reason, proves nothing", async () => {
    const first = await round(ran(5), null);
    expect(first).toMatchObject({ result: "pass", most: { tests: 5 } });
    const fewer = await round(ran(3), first, "Done.\n\nTests removed:\n");
    expect(fewer).toMatchObject({ result: "inconclusive", blocking: [], most: { tests: 5 } });
    expect(fewer.summary).toContain("tests: 5 tests ran before, and 3 now, without a reason");
    expect(await round(ran(6), first)).toMatchObject({ result: "pass", most: { tests: 6 } });
  });

  test("does not include skipped tests", async () => {
    expect((await round(ran(4, 1), await round(ran(5), null))).result).toBe("inconclusive");
  });

  test("below the previous one becomes a readable note with the author's reason", async () => {
    const first = await round(ran(5), null);
    const judgement = await round(ran(3), first, "READY_FOR_REVIEW: x\nTests removed: the old API is gone\n");
    expect(judgement).toMatchObject({
      result: "pass",
      findings: [{ severity: "info", category: "tests", detail: "5 tests ran before, and 3 now: the old API is gone" }],
      blocking: [],
      most: { tests: 3 },
    });
    expect(await round(ran(3), judgement)).toMatchObject({ result: "pass", findings: [] });
  });

  test("is not lowered by a failed round in between", async () => {
    const failed = await round(
      `${ran(4)}; echo '=== 1 failed, 2 passed in 0.1s ==='; exit 1`,
      await round(ran(9), null),
    );
    expect(failed).toMatchObject({ result: "fail", most: { tests: 9 } });
    expect((await round(ran(7), failed)).result).toBe("inconclusive");
  });

  test("that a runner no longer reports, as if it had been replaced, proves nothing", async () => {
    const silent = await round("echo ok", await round(ran(5), null));
    expect(silent.summary).toContain("before, 5 tests ran, and now the output does not say how many");
    expect(silent.result).toBe("inconclusive");
  });
});
