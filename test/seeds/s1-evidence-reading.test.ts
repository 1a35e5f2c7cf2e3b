import { describe, expect, test } from "vitest";
import { readCiEvidence, readMutationEvidence, readReviewEvidence } from "../../src/parse/data/evidence.ts";

const stage = (verdict: string, ...findings: readonly object[]) => ({ verdict, findings });
const finding = {
  severity: "CRITICAL",
  file: "src/auth/handler.ts",
  line: 42,
  description: "The error of the database is not looked at",
  status: "open",
  category: "errors",
};
const json = (value: object): string => JSON.stringify(value);
const problems = (read: { ok: boolean; problems?: readonly string[] }): string =>
  (read.problems ?? ["(read)"]).join("\n");

describe("S1: review evidence", () => {
  test("stages in S1's order, findings with their stage, on our scale of severities", () => {
    const read = readReviewEvidence(
      json({
        slice_id: "auth-registration",
        attempt: 2,
        stages: {
          domain_integrity: stage("PASS", { severity: "SUGGESTION", description: "A type would be better" }),
          code_quality: { ...stage("CHANGES REQUIRED", finding), led_by: ["engineer-c", "engineer-d"] },
          spec_compliance: stage("PASS"),
          our_own: stage("PASS"),
        },
        overall: "CHANGES REQUIRED",
        required_changes: ["look at it", { description: "and test it" }],
      }),
    );
    expect(read).toMatchObject({
      ok: true,
      value: {
        story: "auth-registration",
        attempt: 2,
        result: "fail",
        stages: [
          { stage: "spec_compliance", result: "pass", reviewer: "spec_compliance" },
          { stage: "code_quality", result: "fail", reviewer: "engineer-c, engineer-d" },
          { stage: "domain_integrity", result: "pass" },
          { stage: "our_own", result: "pass" },
        ],
        findings: [
          {
            severity: "critical",
            category: "errors",
            file: "src/auth/handler.ts",
            line: 42,
            message: "The error of the database is not looked at",
            source: "engineer-c, engineer-d",
            stage: "code_quality",
          },
          {
            severity: "minor",
            category: "domain_integrity",
            message: "A type would be better",
            stage: "domain_integrity",
          },
        ],
        requiredFixes: ["look at it", "and test it"],
      },
    });
  });

  test("the stages may come in a list, the first failure alone", () => {
    const read = readReviewEvidence(
      json({ stages: [{ stage: "spec_compliance", verdict: "FAIL", findings: [finding] }] }),
    );
    expect(read).toMatchObject({ ok: true, value: { story: null, attempt: null, result: "fail", requiredFixes: [] } });
  });

  test("every stage passed", () => {
    const read = readReviewEvidence(json({ stages: { code_quality: stage("PASS") }, overall: "APPROVED" }));
    expect(read).toMatchObject({ ok: true, value: { result: "pass" } });
  });

  test.each([
    ["no stages", json({ stages: {} }), /nothing was reviewed/],
    ["a verdict that nobody knows", json({ stages: { code_quality: stage("HM") } }), /stages\.code_quality: "HM"/],
    [
      "APPROVED over a failed stage",
      json({ stages: { code_quality: stage("FAIL") }, overall: "APPROVED" }),
      /does not agree/,
    ],
    [
      "a severity of no scale",
      json({ stages: { a: stage("FAIL", { ...finding, severity: "odd" }) } }),
      /no known severity/,
    ],
    ["no JSON", "hello", /stages|whole/],
    ["cut off", '{"stages": {"code_quality": {"verdict": "PASS"', /no end/],
    ["not even nearly", "{{{", /not JSON/],
    ["too long", `{"stages": "${"x".repeat(9_000_000)}"}`, /longer than/],
  ])("%s is refused, with the reason", (_, text, problem) => {
    const read = readReviewEvidence(text);
    expect(read.ok).toBe(false);
    expect(problems(read)).toMatch(problem);
  });
});

describe("S1: mutation evidence", () => {
  const results = { total_mutants: 20, killed: 18, survived: 1, timed_out: 1, score: "95%" };
  const survivor = {
    file: "src/auth/handler.ts",
    line: 55,
    mutation: "replaced > with >=",
    recommended_test: "the boundary",
  };

  test("survivors and totals; what timed out is counted apart", () => {
    const read = readMutationEvidence(
      json({ slice_id: "a", tool: "cargo-mutants", scope: ["src/auth/handler.ts"], results, survivors: [survivor] }),
    );
    expect(read).toEqual({
      ok: true,
      value: {
        story: "a",
        tool: "cargo-mutants",
        scope: ["src/auth/handler.ts"],
        total: 20,
        killed: 18,
        survived: 1,
        timedOut: 1,
        score: "95%",
        survivors: [
          {
            file: "src/auth/handler.ts",
            line: 55,
            mutation: "replaced > with >=",
            description: "replaced > with >=",
            recommendedTest: "the boundary",
          },
        ],
      },
    });
  });

  test.each([
    [undefined, "99.9%"],
    [" ", "99.9%"],
    [97, "97%"],
    ["97 %", "97 %"],
  ])("a score given as %j is %s", (score, shown) => {
    const read = readMutationEvidence(json({ results: { total_mutants: 1000, killed: 999, survived: 1, score } }));
    expect(read).toMatchObject({ ok: true, value: { score: shown, tool: null, scope: [] } });
  });

  test("no mutants are no score", () => {
    const read = readMutationEvidence(json({ results: { total_mutants: 0, killed: 0, survived: 0 } }));
    expect(read).toMatchObject({ ok: true, value: { score: "none" } });
  });

  test.each([
    ["sums that do not add up", { results: { ...results, killed: 20 } }, /more than 20/],
    ["more survivors than survived", { results, survivors: [survivor, survivor] }, /2 are listed/],
    ["no totals", { survivors: [] }, /results/],
  ])("%s is refused", (_, document, problem) => {
    expect(problems(readMutationEvidence(json(document)))).toMatch(problem);
  });
});

describe("S1: CI results", () => {
  test("CI_RESULT as a block of text", () => {
    const read = readCiEvidence(
      "CI_RESULT:\n  run_id: run-12346\n  status: failure\n  duration: 87\n  failure_type: test-failure\n  failure_details: auth_test 23\n  fixes_applied: [formatted]\n  retry_count: 1\n",
    );
    expect(read).toEqual({
      ok: true,
      value: {
        runId: "run-12346",
        result: "fail",
        class: "test",
        details: "auth_test 23",
        url: null,
        durationMs: 87_000,
        fixesApplied: ["formatted"],
        retryCount: 1,
      },
    });
  });

  test("its fields under the heading, not indented", () => {
    expect(readCiEvidence("CI_RESULT:\nrun_id: 1\nstatus: success")).toMatchObject({
      ok: true,
      value: { result: "pass" },
    });
  });

  test("the file of a run, among words", () => {
    const file = {
      pipeline_run_id: "run-1",
      status: "success",
      url: "https://ci.example/1",
      duration_seconds: 142,
      failure_classification: null,
    };
    expect(readCiEvidence(`Done: ${json(file)} as asked.`)).toMatchObject({
      ok: true,
      value: {
        runId: "run-1",
        result: "pass",
        class: null,
        url: "https://ci.example/1",
        durationMs: 142_000,
        retryCount: 0,
      },
    });
  });

  test.each([
    ["test_failure", "test"],
    ["Test failure", "test"],
    ["infra-failure", "infrastructure"],
    ["Infrastructure failure", "infrastructure"],
    ["Configuration failure", "configuration"],
    ["Lint/format failure", "lint"],
    ["build-failure", "build"],
    ["flaky-test", "flaky"],
  ])("%s is the class %s", (word, name) => {
    expect(readCiEvidence(json({ run_id: 1, status: "failed", failure_type: word }))).toMatchObject({
      ok: true,
      value: { class: name },
    });
  });

  test("a flaky pass is not a pass", () => {
    const read = readCiEvidence(json({ run_id: 1, status: "success", failure_type: "flaky-test" }));
    expect(read).toMatchObject({ ok: true, value: { result: "inconclusive", class: "flaky" } });
  });

  test("a run that was cancelled is the gate's error, not the work's failure", () => {
    expect(readCiEvidence(json({ run_id: 1, status: "timed_out" }))).toMatchObject({
      ok: true,
      value: { result: "error" },
    });
  });

  test.each([
    ["a run that still runs", { run_id: 1, status: "in_progress" }, /no end of a run/],
    ["no run", { status: "success" }, /run_id/],
    ["a class that nobody knows", { run_id: 1, status: "failure", failure_type: "weather" }, /"weather"/],
  ])("%s is refused", (_, document, problem) => {
    expect(problems(readCiEvidence(json(document)))).toMatch(problem);
  });
});
