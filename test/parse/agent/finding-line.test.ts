import { describe, expect, test } from "vitest";
import type { ReadFinding } from "../../../src/core/stories/reading.ts";
import { findingFromLine } from "../../../src/parse/agent/finding-line.ts";

const rows: readonly (readonly [text: string, finding: Partial<ReadFinding>])[] = [
  ["src/a.ts:42: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts:42:7: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts:42-45: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts:42–45 - no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts#L42: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts:L42 — no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["`src/a.ts:42`: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["`src/a.ts:42` no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["**src/a.ts:42** - no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["**`src/a.ts:42`** - no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts (line 42): no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["src/a.ts, lines 42-44: no check", { file: "src/a.ts", line: 42, message: "no check" }],
  ["C:\\work\\a.ts:10: no check", { file: "C:\\work\\a.ts", line: 10, message: "no check" }],
  ["C:/work/a.ts: no check", { file: "C:/work/a.ts", line: null, message: "no check" }],
  ["src/my file.ts:3: no check", { file: "src/my file.ts", line: 3, message: "no check" }],
  ["Makefile:3: no check", { file: "Makefile", line: 3, message: "no check" }],
  [".env:1: secret", { file: ".env", line: 1, message: "secret" }],
  ["src/a.ts: no check", { file: "src/a.ts", line: null, message: "no check" }],
  ["src/a.ts - no check", { file: "src/a.ts", line: null, message: "no check" }],
  ["src/a.ts:0: no check", { file: "src/a.ts", line: null, message: "no check" }],
  ["no check at all", { file: null, line: null, message: "no check at all" }],
  ["At 10:30: it stops", { file: null, message: "At 10:30: it stops" }],
  ["See the docs. In short.md:1: text", { file: null }],
  ["note: this is not a file", { file: null, severity: null, message: "note: this is not a file" }],
  ["[CRITICAL] src/a.ts:1: leak", { severity: "critical", file: "src/a.ts", line: 1, message: "leak" }],
  ["CRITICAL: src/a.ts:1: leak", { severity: "critical", file: "src/a.ts", message: "leak" }],
  ["(major) leak", { severity: "major", message: "leak" }],
  ["**Minor**: leak", { severity: "minor", message: "leak" }],
  ["**High severity:** leak", { severity: "critical", message: "leak" }],
  ["src/a.ts:1: [IMPORTANT] leak", { severity: "major", file: "src/a.ts", message: "leak" }],
  ["SUGGESTION - rename it", { severity: "minor", message: "rename it" }],
  [
    "[security] [blocker] src/a.ts:1: leak",
    { category: "security", severity: "blocker", file: "src/a.ts", message: "leak" },
  ],
  ["(see below) leak", { severity: null, message: "(see below) leak" }],
  ["[ADDRESSED] src/a.ts:1: leak", { status: "ADDRESSED", file: "src/a.ts", message: "leak" }],
  ["src/a.ts:1: leak - NOT ADDRESSED", { status: "NOT ADDRESSED", message: "leak" }],
  ["src/a.ts:1: leak (FIXED)", { status: "FIXED", message: "leak" }],
  ["src/a.ts:1: leak. Fix: close it", { message: "leak.", suggestedFix: "close it" }],
  ["src/a.ts:42", { file: "src/a.ts", line: 42, message: "src/a.ts:42" }],
];

describe("one issue in one line", () => {
  test.each(rows)("%s", (text, finding) => {
    expect(findingFromLine(text)).toMatchObject(finding);
  });

  test("lines below it are details", () => {
    const details = [
      "Severity: major",
      "- **Category:** design",
      "File: `src/b.ts`",
      "Line: 12",
      "Criterion: AC2",
      "Status: open",
      "Suggested fix: split it",
      "and another sentence",
    ];
    expect(findingFromLine("too long", details)).toEqual({
      severity: "major",
      category: "design",
      file: "src/b.ts",
      line: 12,
      criterion: "AC2",
      status: "open",
      suggestedFix: "split it",
      message: "too long and another sentence",
    });
  });

  test("a heading's severity applies unless the line has its own", () => {
    expect(findingFromLine("a", [], "blocker").severity).toBe("blocker");
    expect(findingFromLine("[minor] a", [], "blocker").severity).toBe("minor");
    expect(findingFromLine("a", ["severity: nonsense"], "blocker").severity).toBe("blocker");
  });

  test("a log is cut", () => {
    expect(findingFromLine("x".repeat(100_000), ["y".repeat(100_000)]).message.length).toBe(4000);
  });
});
