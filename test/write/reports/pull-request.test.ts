import { describe, expect, test } from "vitest";
import { fingerprint, roleName, treeId } from "../../../src/core/events/ids.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { newStory, UNJUDGED } from "../../../src/fold/new-state.ts";
import { writePullRequest } from "../../../src/write/reports/pull-request.ts";
import { judgement, story } from "../../kit/story-world.ts";

const CRITERIA = [
  { id: "AC1", text: "no wait is longer than 5 s" },
  { id: "AC2", text: "the cap can be set" },
];

function state(changes: Partial<StoryState> = {}): StoryState {
  const body = "Give the wait a cap.\n\n## Acceptance Criteria\n\n- [ ] no wait\n\n## Notes\n\nSee the old one.\n";
  const own = story("cap", { title: "Cap the wait", body, criteria: CRITERIA });
  return { ...newStory(own, 0, 0), commit: "abc123", ...changes };
}

const attempt = {
  attempt: 1,
  phase: "implement",
  role: roleName("developer"),
  reworkOf: null,
  outcome: "ready",
  asked: 0,
  tree: treeId("t1"),
  summary: "added a cap",
  failed: "",
} as const;

describe("the text of a pull request", () => {
  test("states the request, without repeating the criteria", () => {
    const { title, body } = writePullRequest(state());
    expect(title).toBe("Cap the wait");
    expect(body).toContain("## What\n\nGive the wait a cap.\n\n## Notes\n\nSee the old one.");
    expect(body).toContain("- [ ] no wait is longer than 5 s\n- [ ] the cap can be set");
    expect(body).toContain("`remand show cap`");
    expect(body).not.toMatch(/## (?:Judged|Attempts|Let through)/);
  });

  test("ticks the criteria that the auditor verified, with the evidence", () => {
    const last = {
      ...judgement("audit", "t1", "pass"),
      criteria: [
        { criterion: "AC1", status: "verified", evidence: "waitMs(20) is 5000" },
        { criterion: "the cap can be set", status: "unknown", evidence: "" },
      ] as const,
    };
    const { body } = writePullRequest(state({ gates: { audit: { ...UNJUDGED, last } } }));
    expect(body).toContain("- [x] no wait is longer than 5 s — waitMs(20) is 5000\n- [ ] the cap can be set\n");
  });

  test("lists the gates that judged it, with their counts", () => {
    const tests = { total: 9, passed: 8, failed: 0, skipped: 1 };
    const last = { ...judgement("checks", "t1", "pass"), tests, coverage: { lines: 91.5, branches: null } };
    const { body } = writePullRequest(state({ gates: { checks: { ...UNJUDGED, last, failuresEver: 2 } } }));
    expect(body).toContain("| checks | pass | 2 | 8 of 9 tests passed, 91.5 % of lines covered |");
  });

  test.each([
    ["integrity: pass", "| integrity | pass | 0 |  |"],
    ["integrity: pass, 2 to look at", "| integrity | pass | 0 | 2 to look at |"],
  ])("does not repeat gate and result of %j as evidence", (summary, row) => {
    const last = { ...judgement("integrity", "t1", "pass"), summary };
    expect(writePullRequest(state({ gates: { integrity: { ...UNJUDGED, last } } })).body).toContain(row);
  });

  test("lists each attempt, what sent it back, and what a person let through", () => {
    const attempts = [
      { ...attempt, failed: "checks: 1 of 3 tests failed" },
      { ...attempt, attempt: 2, reworkOf: "checks" as const, summary: "" },
      { ...attempt, attempt: 3, reworkOf: "person" as const },
    ];
    const waivers = [
      { gate: "review", findings: [fingerprint("a")], tree: null, by: "ann", reason: "known", at: 1 },
      { gate: "audit", findings: [], tree: treeId("t1"), by: "bob", reason: "by hand", at: 1 },
    ] as const;
    const { body } = writePullRequest(state({ attempts, waivers }));
    expect(body).toContain("1. developer: added a cap → checks: 1 of 3 tests failed");
    expect(body).toContain("2. developer, after the checks gate sent it back: ready");
    expect(body).toContain("3. developer, after a person sent it back: added a cap → ready");
    expect(body).toContain("- ann let 1 finding of the review gate through: known");
    expect(body).toContain("- bob let the audit gate through: by hand");
  });

  test("text of agents mentions no person, closes no issue and breaks no table", () => {
    const nasty = "@everyone fixes #12 | <script> **x**\n## Heading `code`";
    const { body } = writePullRequest(state({ attempts: [{ ...attempt, summary: nasty }] }));
    const line = body.split("\n").find((each) => each.startsWith("1. "))!;
    expect(line).toContain("\\@everyone fixes \\#12 \\| \\<script\\> \\*\\*x\\*\\* \\#\\# Heading \\`code\\`");
  });

  test("a long story is cut, and says so", () => {
    const { story: own } = state();
    const long = writePullRequest(state({ story: { ...own, body: "x".repeat(5000), criteria: [] } }));
    expect(long.body).toContain("(1000 more characters are in the story's file.)");
    expect(writePullRequest(state({ story: { ...own, title: "t".repeat(500) } })).title).toHaveLength(120);
  });
});
