import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCoverage } from "../../../src/parse/tests/coverage.ts";

describe("lcov", () => {
  test("uses the sums if given, and otherwise counts lines", () => {
    const text =
      "TN:\nSF:src/a.ts\nDA:1,5\nDA:2,0\nBRDA:1,0,0,3\nBRDA:1,0,1,-\nLF:10\nLH:8\nBRF:4\nBRH:1\nend_of_record\n";
    const counted =
      "SF:src/b.ts\r\nDA:1,5\r\nDA:2,0\r\nDA:3,12,hash\r\nBRDA:1,0,0,3\r\nBRDA:1,0,1,0\r\nend_of_record\r\n";
    expect(readCoverage(text)).toEqual({
      lines: { covered: 8, total: 10 },
      branches: { covered: 1, total: 4 },
      problem: null,
    });
    expect(readCoverage(counted)).toEqual({
      lines: { covered: 2, total: 3 },
      branches: { covered: 1, total: 2 },
      problem: null,
    });
    expect(readCoverage(text + counted)).toMatchObject({ lines: { covered: 10, total: 13 } });
  });

  test("covers at most all lines, and has no figure without branches", () => {
    expect(readCoverage("SF:a\nLF:2\nLH:9\nend_of_record")).toEqual({
      lines: { covered: 2, total: 2 },
      branches: null,
      problem: null,
    });
  });
});

describe("Cobertura", () => {
  test("uses the root's own numbers", () => {
    expect(
      readCoverage(
        '<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://x/y.dtd"><coverage lines-valid="200" lines-covered="150" branches-valid="40" branches-covered="10" line-rate="0.75"></coverage>',
      ),
    ).toEqual({ lines: { covered: 150, total: 200 }, branches: { covered: 10, total: 40 }, problem: null });
  });

  test("counts lines if the root has only rates; a method's lines are not counted twice", () => {
    const lines = '<line number="1" hits="3"/><line number="2" hits="0" branch="true" condition-coverage="50% (1/2)"/>';
    expect(
      readCoverage(
        `<coverage line-rate="0.5"><packages><package><classes><class><methods><method><lines>${lines}</lines></method></methods><lines>${lines}</lines></class></classes></package></packages></coverage>`,
      ),
    ).toEqual({ lines: { covered: 1, total: 2 }, branches: { covered: 1, total: 2 }, problem: null });
  });
});

test("Istanbul's summary", () => {
  const total = { lines: { total: 10, covered: 9, pct: 90 }, branches: { total: 0, covered: 0, pct: "Unknown" } };
  expect(readCoverage(JSON.stringify({ total }))).toEqual({
    lines: { covered: 9, total: 10 },
    branches: null,
    problem: null,
  });
});

test.each([
  ["", "it is empty"],
  ["hello", "it is neither lcov nor Cobertura nor a summary of Istanbul's"],
  ["SF:a\nDA:1,1\n", "it is neither lcov nor Cobertura nor a summary of Istanbul's"],
  ["SF:a\nLF:0\nLH:0\nend_of_record", "it counts not a single line, so that it says nothing about the code"],
  ["<coverage/>", "it counts not a single line, so that it says nothing about the code"],
  ["<coverage>", "`<coverage>` is never closed"],
  ["<testsuite/>", "it is XML, but not Cobertura's"],
  ["{}", "it is JSON, but no summary of Istanbul's with lines in it"],
  ['{"total": {"lines": {"total": -3, "covered": "x"}}}', "it is JSON, but no summary of Istanbul's with lines in it"],
])("%j is not readable", (text, problem) => {
  expect(readCoverage(text)).toEqual({ lines: null, problem });
});

test("no more is ever covered than there is", () => {
  const line = fc.constantFrom(
    "SF:a",
    "DA:1,1",
    "DA:x",
    "LF:3",
    "LH:9",
    "BRDA:1,0,0,-",
    "BRF:1",
    "BRH:2",
    "end_of_record",
    "",
    "LF:99999999999",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const read = readCoverage(lines.join("\n"));
      if (read.lines !== null) expect(read.lines.covered).toBeLessThanOrEqual(read.lines.total);
    }),
  );
});
