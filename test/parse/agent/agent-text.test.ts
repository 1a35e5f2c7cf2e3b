import { describe, expect, test } from "vitest";
import type { Reading, SignalRole } from "../../../src/core/stories/reading.ts";
import { readAgentText } from "../../../src/parse/agent/agent-text.ts";

interface Row {
  readonly what: string;
  readonly text: string;
  readonly id?: string | null;
  readonly role?: SignalRole;
  readonly result: Reading["result"];
  readonly more?: Partial<Reading>;
  readonly problem?: RegExp;
}

/** Every text is read for story `x`, unless the row says otherwise. */
function expectRow({ text, id = "x", role, result, more, problem }: Row): void {
  const reading = readAgentText(text, { id: id ?? undefined, role });
  expect(reading).toMatchObject({ result, ...more });
  if (problem !== undefined) expect(reading.problems.join("\n")).toMatch(problem);
  if (result === "unknown") {
    expect(reading.kind).toBe("unknown");
    expect(reading.signal).toBeNull();
    expect(reading.problems.length).toBeGreaterThan(0);
  }
}

const signals: readonly Row[] = [
  {
    what: "alone",
    text: "REVIEW_PASSED: x",
    result: "pass",
    more: { kind: "signal", signal: "REVIEW_PASSED", id: "x", idMatches: true },
  },
  { what: "no id expected", text: "AUDIT_FAILED: y\n", id: null, result: "fail", more: { id: "y", idMatches: null } },
  { what: "after prose", text: "I looked at it.\n\nREVIEW_FAILED: x\n", result: "fail" },
  { what: "blanks behind the id", text: "REVIEW_PASSED:  x \t\nSummary: ok", result: "pass" },
  { what: "CRLF", text: "Hello\r\nREVIEW_PASSED: x\r\n\r\nSummary: ok\r\n", result: "pass", more: { summary: "ok" } },
  { what: "byte order mark", text: "\uFEFFREVIEW_PASSED: x", result: "pass" },
  { what: "colors", text: "\u001B[32mREVIEW_PASSED: x\u001B[0m", result: "pass" },
  { what: "colors inside the name", text: "REVIEW_\u001B[1mPASSED\u001B[0m: x", result: "pass" },
  { what: "a window title before it", text: "\u001B]0;title\u0007REVIEW_PASSED: x", result: "pass" },
  { what: "NUL and a direction mark", text: "a\nREV\u0000IEW_PASSED: x\u200F\n", result: "pass" },
  { what: "an odd id that is the one expected", text: "REVIEW_PASSED: a/b", id: "a/b", result: "pass" },

  {
    what: "another story",
    text: "REVIEW_PASSED: y",
    result: "unknown",
    more: { id: "y", idMatches: false },
    problem: /is for "y", not for "x"/,
  },
  { what: "another story, failed", text: "REVIEW_FAILED: y", result: "unknown", more: { idMatches: false } },
  { what: "another story, blocked", text: "AUDIT_BLOCKED: y", result: "unknown", more: { idMatches: false } },
  { what: "another story, ready", text: "READY_FOR_REVIEW: x2", result: "unknown", more: { idMatches: false } },
  { what: "case of the id", text: "REVIEW_PASSED: X", result: "unknown" },
  { what: "another story's and its own", text: "REVIEW_PASSED: y\nREVIEW_PASSED: x", result: "pass", problem: /"y"/ },
  { what: "a pass beside another story's failure", text: "REVIEW_FAILED: y\nREVIEW_PASSED: x", result: "unknown" },
  { what: "a failure beside another story's pass", text: "REVIEW_PASSED: y\nREVIEW_FAILED: x", result: "fail" },
  {
    what: "two stories, none expected",
    text: "REVIEW_PASSED: y\nREVIEW_PASSED: z",
    id: null,
    result: "unknown",
    problem: /more than one story/,
  },

  {
    what: "critic gives an auditor's signal",
    text: "AUDIT_PASSED: x",
    role: "critic",
    result: "unknown",
    problem: /not a critic's/,
  },
  { what: "developer passes itself", text: "REVIEW_PASSED: x", role: "developer", result: "unknown" },
  { what: "auditor gives a critic's signal", text: "REVIEW_FAILED: x", role: "auditor", result: "unknown" },
  { what: "developer blocked", text: "INFRA_BLOCKED: x", role: "developer", result: "blocked" },
  { what: "auditor blocked", text: "AUDIT_BLOCKED: x", role: "auditor", result: "blocked" },
  { what: "developer says the auditor's blocked", text: "AUDIT_BLOCKED: x", role: "developer", result: "unknown" },
  {
    what: "critic echoes the developer, then passes",
    text: "READY_FOR_REVIEW: x\nREVIEW_PASSED: x",
    role: "critic",
    result: "unknown",
  },

  {
    what: "twice the same",
    text: "REVIEW_PASSED: x\nSummary: one\n\nREVIEW_PASSED: x\nSummary: two",
    result: "pass",
    more: { summary: "two" },
  },
  {
    what: "passed and failed",
    text: "REVIEW_PASSED: x\n\nREVIEW_FAILED: x",
    result: "unknown",
    problem: /REVIEW_PASSED and REVIEW_FAILED/,
  },
  { what: "failed and passed", text: "REVIEW_FAILED: x\n\nREVIEW_PASSED: x", result: "unknown" },
  { what: "review and audit passed", text: "REVIEW_PASSED: x\nAUDIT_PASSED: x", result: "unknown" },
  {
    what: "blocked beside failed",
    text: "AUDIT_BLOCKED: x\nAUDIT_FAILED: x",
    result: "blocked",
    problem: /AUDIT_FAILED beside AUDIT_BLOCKED/,
  },
  {
    what: "blocked beside passed",
    text: "AUDIT_PASSED: x\nAUDIT_BLOCKED: x",
    result: "blocked",
    more: { signal: "AUDIT_BLOCKED" },
  },
  {
    what: "a blocked that is not the role's beside its own",
    text: "AUDIT_BLOCKED: x\nREVIEW_PASSED: x",
    role: "critic",
    result: "unknown",
  },

  { what: "no space", text: "REVIEW_PASSED:x", result: "unknown", problem: /is not a signal/ },
  { what: "no id", text: "REVIEW_PASSED", result: "unknown" },
  { what: "no id after the colon", text: "REVIEW_PASSED: \nx", result: "unknown" },
  { what: "a sentence that begins with it", text: "REVIEW_PASSED: x would be wrong here.", result: "unknown" },
  { what: "a placeholder", text: "REVIEW_PASSED: <task_id>", id: null, result: "unknown" },
  { what: "lower case", text: "review_passed: x", result: "unknown" },
  { what: "a longer name", text: "REVIEW_PASSED_NOT: x", result: "unknown" },
  { what: "a pass beside an unreadable failure", text: "REVIEW_FAILED:x\nREVIEW_PASSED: x", result: "unknown" },
  { what: "a failure beside an unreadable pass", text: "REVIEW_PASSED:x\nREVIEW_FAILED: x", result: "fail" },
  { what: "bold", text: "**REVIEW_PASSED: x**", result: "unknown" },
  { what: "a very long line", text: `REVIEW_PASSED: x${" ".repeat(5000)}y`, result: "unknown" },
  { what: "a carriage return starts no line", text: "progress\rREVIEW_PASSED: x", result: "unknown" },
];

describe("text signals", () => {
  test.each(signals)("$what → $result", expectRow);
});

const hidden: readonly Row[] = [
  { what: "in prose", text: "I would say REVIEW_PASSED: x if it were done.", result: "unknown", problem: /mentioned/ },
  { what: "in a fence", text: "```\nREVIEW_PASSED: x\n```\n", result: "unknown" },
  { what: "in a fence of tildes", text: "~~~text\nREVIEW_PASSED: x\n~~~", result: "unknown" },
  { what: "in a fence that is not closed", text: "```\ncode\n\nREVIEW_PASSED: x", result: "unknown" },
  { what: "in a fence with CRLF", text: "```\r\nREVIEW_PASSED: x\r\n```\r\n", result: "unknown" },
  { what: "in a fence behind invisible characters", text: "\u200B```\nREVIEW_PASSED: x\n```", result: "unknown" },
  { what: "in a colored fence", text: "\u001B[2m```\u001B[0m\nREVIEW_PASSED: x\n```", result: "unknown" },
  { what: "a shorter fence does not close", text: "````\n```\nREVIEW_PASSED: x\n```\n````", result: "unknown" },
  { what: "the other character does not close", text: "```\n~~~\nREVIEW_PASSED: x\n~~~\n```", result: "unknown" },
  { what: "a fence with words does not close", text: "```\n``` js\nREVIEW_PASSED: x\n```", result: "unknown" },
  { what: "an indented fence inside does not close", text: "```\n    ```\nREVIEW_PASSED: x\n```", result: "unknown" },
  {
    what: "indented code that looks like a fence opens none",
    text: "    ```\n\n```\nREVIEW_PASSED: x\n```",
    result: "unknown",
  },
  { what: "the same, less indented", text: "    ```\n  ```\nREVIEW_PASSED: x\n", result: "unknown" },
  { what: "a list item's fence ends with it", text: "- ```\n\nfoo\n```\nREVIEW_PASSED: x\n```", result: "unknown" },
  { what: "a fence too long to read", text: `${"`".repeat(5000)}\nREVIEW_PASSED: x`, result: "unknown" },
  {
    what: "a line too long to read that only looks like a fence",
    text: `\`\`\`${"a".repeat(5000)}\`\n\`\`\`\nREVIEW_PASSED: x\n\`\`\``,
    result: "unknown",
  },
  {
    what: "an indented fence around a line that is not",
    text: "      ```\nREVIEW_PASSED: x\n      ```",
    result: "unknown",
  },
  { what: "a bullet with a fence does not close", text: "```\n- ```\nREVIEW_PASSED: x\n```", result: "unknown" },
  { what: "three fences in a row", text: "```\n```\n```\nREVIEW_PASSED: x\n", result: "unknown" },
  { what: "in a quotation", text: "> REVIEW_PASSED: x\n", result: "unknown" },
  { what: "indented", text: "  REVIEW_PASSED: x\n", result: "unknown" },
  { what: "indented code", text: "\tREVIEW_PASSED: x\n", result: "unknown" },
  { what: "a bullet", text: "- REVIEW_PASSED: x\n", result: "unknown" },
  { what: "backticks", text: "`REVIEW_PASSED: x`\n", result: "unknown" },
  {
    what: "the echoed prompt",
    text: "You MUST end your review with one of:\n- `REVIEW_PASSED: x` - if code quality is acceptable\n- `REVIEW_FAILED: x` - if issues need fixing\n",
    result: "unknown",
  },
  {
    what: "the echoed prompt without bullets",
    text: "End with one of:\nREVIEW_PASSED: x - if acceptable\nREVIEW_FAILED: x - if not\n",
    result: "unknown",
  },
  {
    what: "the echoed prompt, then the answer",
    text: "- `REVIEW_PASSED: x` - if good\n- `REVIEW_FAILED: x` - if not\n\nREVIEW_FAILED: x\n",
    result: "fail",
  },

  { what: "after a closed fence", text: "```js\ncode\n```\nREVIEW_PASSED: x", result: "pass" },
  { what: "after two fences in a row", text: "```\n```\nREVIEW_PASSED: x", result: "pass" },
  { what: "after a list item's fence", text: "- ```js\n  code\n  ```\n\nREVIEW_PASSED: x", result: "pass" },
  { what: "after a numbered item's fence", text: "1. Do\n   ```js\n   code\n   ```\nREVIEW_PASSED: x", result: "pass" },
  {
    what: "after a deep item's fence",
    text: "1. a\n    - b\n      ```\n      code\n      ```\nREVIEW_PASSED: x",
    result: "pass",
  },
  { what: "after code inside a line", text: "```not a fence``` at all\nREVIEW_PASSED: x", result: "pass" },
  { what: "after a fence of tildes with backticks", text: "~~~ `a`\n```\n~~~\nREVIEW_PASSED: x", result: "pass" },
  { what: "after a quoted fence", text: "> ```\n> code\n\nREVIEW_PASSED: x", result: "pass" },
];

describe("a signal counts only at the start of a line, outside code and quotations", () => {
  test.each(hidden)("$what → $result", expectRow);
});

const data: readonly Row[] = [
  {
    what: "the whole message",
    text: '{"passed": true, "issues": []}',
    result: "pass",
    more: { kind: "verdict", signal: null, idMatches: null },
  },
  { what: "its id", text: '{"id": "x", "verdict": "pass"}', result: "pass", more: { id: "x", idMatches: true } },
  {
    what: "another story's",
    text: '{"task_id": "y", "verdict": "pass"}',
    result: "unknown",
    more: { id: "y", idMatches: false },
  },
  { what: "fenced", text: 'Here it is:\n\n```json\n{"passed": true}\n```\n', result: "pass" },
  {
    what: "embedded",
    text: 'My verdict: {"passed": false, "issues": ["src/a.ts:3: off by one"]} as said.',
    result: "fail",
    more: { findings: [finding({ file: "src/a.ts", line: 3, message: "off by one" })] },
  },
  {
    what: "an embedded pass that is not last",
    text: 'My verdict: {"passed": true}. But there is more.',
    result: "unknown",
    problem: /last thing/,
  },
  { what: "behind a stray brace", text: 'Use { here.\n\n{"passed": true}', result: "pass" },
  { what: "behind a stray brace and quote", text: 'Use {" here.\n\n{"passed": true}', result: "pass" },
  {
    what: "nearly JSON",
    text: "{'passed': False, 'issues': [{'severity': 'major', 'description': 'don't', }], // so\n}",
    result: "fail",
    more: { findings: [finding({ severity: "major", message: "don't" })] },
  },
  {
    what: "cut off, failed",
    text: '```json\n{"passed": false, "issues": [{"description": "no tests"\n```',
    result: "fail",
    more: { findings: [finding({ message: "no tests" })] },
  },
  { what: "cut off, passed", text: '{"passed": true, "issues": [', result: "unknown", problem: /cut off/ },
  {
    what: "YAML, whole",
    text: "verdict: fail\nfindings:\n  - severity: CRITICAL\n    file: a.ts\n    line: 4\n    message: bad\n",
    result: "fail",
    more: { findings: [finding({ severity: "critical", file: "a.ts", line: 4, message: "bad" })] },
  },
  {
    what: "YAML, fenced",
    text: "So:\n\n```yaml\npassed: true\nsummary: fine\n```",
    result: "pass",
    more: { summary: "fine" },
  },
  { what: "YAML that is not last", text: "```yaml\npassed: true\n```\nThat is all.", result: "unknown" },
  { what: "YAML that is none", text: "verdict: [pass\nsummary: x", result: "unknown", problem: /not YAML/ },
  { what: "prose that looks like YAML", text: "Summary: fine\nverdict: pass\nand so on", result: "unknown" },
  { what: "quoted", text: '> {"passed": true}\n', result: "unknown" },
  {
    what: "two that agree",
    text: '{"passed": false, "issues": ["a"]}\n\n{"passed": false, "issues": ["b"]}',
    result: "fail",
    more: { findings: [finding({ message: "b" })] },
  },
  { what: "two that disagree", text: '{"passed": false}\n{"passed": true}', result: "unknown", problem: /disagree/ },
  {
    what: "contradicts itself",
    text: '{"passed": true, "decision": "REJECTED"}',
    result: "unknown",
    problem: /contradicts itself: passed and decision/,
  },
  {
    what: "agrees with the signal",
    text: 'REVIEW_FAILED: x\n\n```json\n{"passed": false, "issues": ["a.ts:1: bad"]}\n```',
    result: "fail",
    more: { kind: "signal", findings: [finding({ file: "a.ts", line: 1, message: "bad" })] },
  },
  {
    what: "disagrees with the signal",
    text: '{"passed": false}\n\nREVIEW_PASSED: x',
    result: "unknown",
    problem: /disagree/,
  },
  { what: "passes against a failing signal", text: 'REVIEW_FAILED: x\n\n{"passed": true}', result: "unknown" },
  {
    what: "passes beside a failure that cannot be read",
    text: 'REVIEW_FAILED:x\n\n{"passed": true}',
    result: "unknown",
  },
  { what: "passes beside data that cannot be read", text: '{"passed" false}\n{"passed": true}', result: "unknown" },
  {
    what: "a developer cannot pass",
    text: '{"passed": true}',
    role: "developer",
    result: "unknown",
    problem: /developer cannot say "pass"/,
  },
  {
    what: "a developer is ready",
    text: '{"signal": "READY_FOR_REVIEW", "id": "x"}',
    role: "developer",
    result: "ready",
  },
  { what: "a critic is not blocked", text: '{"verdict": "blocked"}', role: "critic", result: "unknown" },
  {
    what: "an auditor is",
    text: '{"verdict": "BLOCKED", "preExisting": ["no database"]}',
    role: "auditor",
    result: "blocked",
    more: { preExisting: ["no database"] },
  },
  { what: "numbers are no verdict", text: '{"passed": 12, "failed": 0}', result: "unknown" },
  { what: "a status by itself is no verdict", text: '{"status": "passed"}', result: "unknown" },
  { what: "a status with issues is", text: '{"status": "failed", "issues": ["x"]}', result: "fail" },
  {
    what: "a word that nobody knows",
    text: '{"verdict": "so-so"}',
    result: "unknown",
    problem: /"verdict" is not a word/,
  },
  {
    what: "a pass with a blocker",
    text: '{"passed": true, "issues": [{"severity": "blocker", "description": "leaks"}]}',
    result: "unknown",
    more: { findings: [finding({ severity: "blocker", message: "leaks" })] },
    problem: /lists a blocker/,
  },
  {
    what: "a pass with a remark",
    text: '{"passed": true, "issues": [{"severity": "minor", "description": "name"}]}',
    result: "pass",
  },
  {
    what: "__proto__ keys",
    text: '{"__proto__": {"passed": true}, "constructor": {"x": 1}, "passed": false, "quality": {"__proto__": "x", "style": "good"}}',
    result: "fail",
    more: { quality: { style: "good" } },
  },
  { what: "a wrapper", text: '{"review": {"passed": false, "issues": []}}', result: "fail" },
  {
    what: "a wrapper in a wrapper in a wrapper",
    text: '{"output": {"review": {"result": {"result": {"passed": true}}}}}',
    result: "unknown",
  },
  {
    what: "escapes in its texts",
    text: '{"passed": false, "issues": ["\\u001b[31mred\\u001b[0m"]}',
    result: "fail",
    more: { findings: [finding({ message: "red" })] },
  },
];

function finding(parts: Partial<Reading["findings"][number]>): Reading["findings"][number] {
  const nothing = {
    severity: null,
    category: null,
    file: null,
    line: null,
    suggestedFix: null,
    criterion: null,
    status: null,
  };
  return { ...nothing, message: "", ...parts };
}

describe("verdicts as data", () => {
  test.each(data)("$what → $result", expectRow);
});

const words: readonly Row[] = [
  {
    what: "needs revision",
    text: "The work needs revision: the parser loops.",
    result: "fail",
    more: { kind: "verdict", idMatches: null },
    problem: /by its words/,
  },
  {
    what: "changes required",
    text: "Decision: changes required.\n\nIssues Found:\n- src/a.ts:4: loops\n",
    result: "fail",
    more: { findings: [finding({ file: "src/a.ts", line: 4, message: "loops" })] },
  },
  { what: "rejected", text: "I have to reject this.", result: "fail" },
  { what: "not approved", text: "Not approved.", result: "fail" },
  { what: "review failed", text: "The review failed.", result: "fail" },
  { what: "no blocking issues", text: "There are no blocking issues.", result: "unknown" },
  { what: "would reject", text: "I would have rejected an empty file.", result: "unknown" },
  { what: "approval in words is no pass", text: "LGTM, approved!", result: "unknown" },
  { what: "both", text: "Approved, though the first version was rejected.", result: "unknown" },
  { what: "in a fence", text: "```\nreview failed\n```", result: "unknown" },
  { what: "in a quotation", text: "> rejected\n\nHm.", result: "unknown" },
  { what: "indented", text: "    rejected", result: "unknown" },
  { what: "beside a signal's name", text: "Rejected. REVIEW_FAILED it is.", result: "unknown", problem: /mentioned/ },
  { what: "a developer cannot reject", text: "I rejected that idea.", role: "developer", result: "unknown" },
  { what: "nothing", text: "Hello.", result: "unknown", problem: /no signal and no verdict/ },
  { what: "no text", text: "", result: "unknown" },
];

describe("plain words can reject, never pass", () => {
  test.each(words)("$what → $result", expectRow);
});

describe("many texts that look like verdicts", () => {
  test("a pass among more than a few hundred does not count", () => {
    const { result, problems } = readAgentText('{"passed": true}\n'.repeat(300));
    expect(result).toBe("unknown");
    expect(problems.join("\n")).toMatch(/Only the last 200/);
  });

  test("a YAML fence that is never closed ends with the message", () => {
    expect(readAgentText("```yaml\npassed: false\nsummary: open\n")).toMatchObject({ result: "fail", summary: "open" });
  });

  test("data completes the sections", () => {
    const text =
      'REVIEW_FAILED: x\n\nPriority: LOW\n\n{"passed": false, "issues": ["b"], "priority": "HIGH", "summary": "s"}';
    expect(readAgentText(text)).toMatchObject({
      kind: "signal",
      priority: "LOW",
      summary: "s",
      findings: [finding({ message: "b" })],
    });
  });

  test("sections may precede their signal", () => {
    const text = "Issues Found:\n- a.ts:1: bad\n\nREVIEW_FAILED: x\n";
    expect(readAgentText(text, { id: "x" })).toMatchObject({
      findings: [finding({ file: "a.ts", line: 1, message: "bad" })],
    });
    const twice = "REVIEW_FAILED: x\n\nIssues Found:\n- one\n\nREVIEW_FAILED: x\n\nREVIEW_FAILED: x\n";
    expect(readAgentText(twice, { id: "x" })).toMatchObject({ findings: [finding({ message: "one" })] });
  });
});

test("a flood of fences and signals is not an answer, whatever its end", () => {
  const flood = "REVIEW_PASSED: a\nREVIEW_PASSED: b\n".repeat(30_000);
  const reading = readAgentText(`${flood}REVIEW_FAILED: a\n`, { id: "a", role: "critic" });
  expect(reading.result).toBe("unknown");
  expect(reading.problems[0]).toContain("more than 50000 fences and signals");
});
