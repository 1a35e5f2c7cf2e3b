import { describe, expect, test } from "vitest";
import { identifyFinding } from "../../../src/core/gates/finding-identity.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { writeJunit } from "../../../src/write/reports/junit-and-sarif.ts";

const judgement = (changes: Partial<Judgement>): Judgement => ({
  gate: "checks",
  result: "pass",
  tree: treeId("t"),
  findings: [],
  blocking: [],
  summary: "checks: pass",
  evidence: [],
  durationMs: 1500,
  ...changes,
});
const finding = identifyFinding({
  severity: "major",
  category: "test",
  source: "vitest",
  message: "expected 3 < 4 & \u001b[31mred\u0000",
  file: "src/a.ts",
  line: 7,
  suggestedFix: 'say "3"',
});
const run = (check: string, result: Judgement["result"], environment = "local") => ({
  check,
  command: check,
  environment,
  result,
  exitCode: result === "pass" ? 0 : 1,
  details: `${check} says ${result}`,
});

describe("JUnit XML", () => {
  test("a case for each command in each environment, with the blocking findings", () => {
    const checks = judgement({
      result: "fail",
      findings: [finding],
      blocking: [finding.id],
      runs: [run("npm test", "fail"), run("npm test", "pass", "node24"), run("lint", "inconclusive")],
    });
    expect(writeJunit({ judgements: [checks], skipped: [{ gate: "audit", why: "nobody plays auditor" }] })).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="remand" tests="4" failures="1" errors="1" skipped="1" time="1.5">
  <testsuite name="remand checks" tests="3" failures="1" errors="1" skipped="0" time="1.5">
    <testcase name="npm test" classname="checks.local"><failure type="fail" message="npm test says fail">major: src/a.ts:7: expected 3 &lt; 4 &amp; \uFFFD[31mred\uFFFD
fix: say &quot;3&quot;</failure></testcase>
    <testcase name="npm test" classname="checks.node24"/>
    <testcase name="lint" classname="checks.local"><error type="inconclusive" message="lint says inconclusive">major: src/a.ts:7: expected 3 &lt; 4 &amp; \uFFFD[31mred\uFFFD
fix: say &quot;3&quot;</error></testcase>
  </testsuite>
  <testsuite name="remand audit" tests="1" failures="0" errors="0" skipped="1" time="0">
    <testcase name="audit" classname="audit"><skipped message="nobody plays auditor"/></testcase>
  </testsuite>
</testsuites>
`,
    );
  });

  test("criteria and stages are cases too", () => {
    const audit = judgement({
      gate: "audit",
      result: "fail",
      criteria: [
        { criterion: "AC1", status: "verified", evidence: "ran it" },
        { criterion: "AC2", status: "failed", evidence: "two\nlines\tand \r" },
        { criterion: "AC3", status: "unknown", evidence: "" },
      ],
    });
    const review = judgement({
      gate: "review",
      stages: [{ stage: "code", result: "pass", reviewer: "critic" as never }],
    });
    const xml = writeJunit({ judgements: [audit, review], skipped: [] });
    expect(xml).toContain('<testcase name="AC1" classname="audit"/>');
    expect(xml).toContain('<failure type="fail" message="two&#10;lines&#9;and &#13;"/>');
    expect(xml).toContain('<error type="inconclusive" message=""/>');
    expect(xml).toContain('<testcase name="code" classname="review"/>');
  });

  test("a gate without parts has its findings as cases, or itself", () => {
    const integrity = judgement({ gate: "integrity", result: "fail", findings: [finding], blocking: [finding.id] });
    expect(writeJunit({ judgements: [integrity], skipped: [] })).toContain(
      '<testcase name="src/a.ts: expected 3 &lt; 4 &amp; \uFFFD[31mred\uFFFD" classname="integrity.test" file="src/a.ts" line="7"><failure type="major"',
    );
    const bare = identifyFinding({
      ...finding,
      file: undefined as never,
      line: undefined as never,
      detail: "the whole",
    });
    const noPlace = judgement({ gate: "integrity", result: "fail", findings: [bare], blocking: [bare.id] });
    expect(writeJunit({ judgements: [noPlace], skipped: [] })).toMatch(/<testcase name="expected .*the whole\nfix/s);
    expect(writeJunit({ judgements: [judgement({ gate: "integrity" })], skipped: [] })).toContain(
      '<testcase name="integrity" classname="integrity"/>',
    );
  });

  test("no failure is lost if all parts pass", () => {
    const checks = judgement({ result: "inconclusive", summary: "no tests ran", runs: [run("npm test", "pass")] });
    const xml = writeJunit({ judgements: [checks], skipped: [] });
    expect(xml).toContain('errors="1"');
    expect(xml).toContain('<error type="inconclusive" message="no tests ran"/>');
  });

  test("a lone surrogate does not break the document", () => {
    expect(writeJunit({ judgements: [judgement({ result: "error", summary: "\ud83d" })], skipped: [] })).toContain(
      'message="\uFFFD"',
    );
  });
});
