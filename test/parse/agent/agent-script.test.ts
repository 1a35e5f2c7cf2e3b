import { describe, expect, test } from "vitest";
import { readAgentScript, scriptedMs } from "../../../src/parse/agent/agent-script.ts";

const problemsOf = (text: string) => {
  const { script, problems } = readAgentScript("script.yaml", text);
  expect(script).toBeNull();
  return problems.map(({ line, column, message, hint }) => ({ at: `${line}:${column}`, message, hint }));
};

describe("a script for the scripted agent", () => {
  test("attempts without parts match everything", () => {
    const { script, problems } = readAgentScript(
      "s.yaml",
      "version: 1\nloop: error\nattempts:\n  - edit: {a: x, b: null}\n    say: done\n",
    );
    expect(problems).toEqual([]);
    expect(script).toEqual({ parts: [{ loop: "error", attempts: [{ edit: { a: "x", b: null }, say: "done" }] }] });
  });

  test("JSON is read as well as YAML", () => {
    const text = JSON.stringify({ parts: [{ match: { role: "critic" }, attempts: [{ exit: 3, delay: "2s" }] }] });
    expect(readAgentScript("s.json", text).script).toEqual({
      parts: [{ match: { role: "critic" }, attempts: [{ exit: 3, delay: "2s" }] }],
    });
  });

  test("a misspelled key is reported at its location", () => {
    expect(problemsOf("attempts:\n  - sya: hello\n")).toEqual([
      { at: "2:5", message: 'unknown key "sya"', hint: 'did you mean "say"?' },
    ]);
  });

  test("a key without a similar one gets the list", () => {
    const [problem] = problemsOf("attempts:\n  - run: rm -rf .\n");
    expect(problem).toMatchObject({ at: "2:5", message: 'unknown key "run"' });
    expect(problem?.hint).toMatch(/^Known keys: .*edit.*garbage/);
  });

  test.each([
    ["attempts:\n  - exit: 300\n", "2:11", "`attempts.0.exit` must be at most 255"],
    ["attempts:\n  - exit: -1\n", "2:11", "`attempts.0.exit` must be at least 0"],
    [
      "attempts:\n  - delay: soon\n",
      "2:12",
      "`attempts.0.delay` must be a length of time such as `500ms`, `2s` or `1m`",
    ],
    [
      "attempts:\n  - error: sad\n",
      "2:12",
      "`attempts.0.error` must be one of auth, rate-limit, overloaded, refused, credit, context-length, bad-request, launch, crash",
    ],
    ["attempts:\n  - edit: {a: [1]}\n", "2:15", "`attempts.0.edit.a` must be text or nothing"],
    ["attempts: []\n", "1:11", "`attempts` must be a list with something in it"],
    ["attempts: nothing\n", "1:11", "`attempts` must be a list"],
    ["version: 2\nattempts: [{}]\n", "1:10", "`version` must be 1"],
    ["- say: hello\n", "1:1", "the script must be a map"],
  ])("%j is refused at its location", (text, at, message) => {
    expect(problemsOf(text)).toMatchObject([{ at, message }]);
  });

  test("requires attempts or parts, and not both", () => {
    expect(problemsOf("version: 1\n")).toMatchObject([{ message: "a script has either `attempts` or `parts`" }]);
    expect(problemsOf("attempts: [{}]\nparts: [{attempts: [{}]}]\n")).toMatchObject([
      { message: "a script has either `attempts` or `parts`" },
    ]);
  });

  test("an attempt has one ending and one message", () => {
    expect(problemsOf("parts:\n  - attempts:\n      - {}\n      - {crash: true, hang: true}\n")).toMatchObject([
      { at: "4:29", message: "an attempt cannot end by both `crash` and `hang`" },
    ]);
    expect(problemsOf("attempts:\n  - {exit: 1, error: auth}\n")).toMatchObject([
      { message: "an attempt cannot end by both `exit` and `error`" },
    ]);
    expect(problemsOf("attempts:\n  - {say: hello, garbage: true}\n")).toMatchObject([
      { message: "`garbage` is said instead of `say`" },
    ]);
  });

  test("text that is not YAML is refused", () => {
    expect(problemsOf("attempts: [\n").length).toBeGreaterThan(0);
    expect(problemsOf("").length).toBe(1);
    expect(problemsOf("x".repeat(300_000)).length).toBe(1);
  });

  test("durations", () => {
    expect([undefined, "500ms", "2s", "1.5m", "1h"].map(scriptedMs)).toEqual([0, 500, 2000, 90_000, 3_600_000]);
  });
});
