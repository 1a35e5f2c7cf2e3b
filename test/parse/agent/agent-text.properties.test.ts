import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SIGNAL_ROLES, SIGNALS } from "../../../src/core/stories/reading.ts";
import { readAgentText } from "../../../src/parse/agent/agent-text.ts";
import { readingSchema } from "../../../src/core/schemas/reading.ts";
import { verdictSchema } from "../../../src/core/schemas/gate-result.ts";

/** Text made of what matters here, so that chance finds the corners. */
const piece = fc.oneof(
  fc.constantFrom(...SIGNALS.map((signal) => `${signal}: x`), ...SIGNALS, ...SIGNALS.map((signal) => `${signal}: y`)),
  fc.constantFrom(
    "```",
    "~~~",
    "````",
    "  ```",
    "    ```",
    "- ```",
    "> ",
    "- ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
  ),
  fc.constantFrom(
    '{"passed": true}',
    '{"passed": false}',
    "{",
    "}",
    '"',
    "passed: true",
    "verdict: pass",
    "rejected",
    "approved",
  ),
  fc.constantFrom(
    "Issues Found:",
    "- a.ts:1: bad",
    "Summary: x",
    "| Check | Result |",
    "Priority: HIGH",
    "Blocker: missing_info",
  ),
  fc.constantFrom("\u001B[31m", "\u001B]0;", "\u0007", "\u0000", "\uFEFF", "\u200F", "\u202E", "\uD800", "\u2028"),
  fc.string({ maxLength: 8 }),
);
const anyText = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join("")),
  fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("\n")),
);
const anyExpected = fc.record({
  id: fc.constantFrom(undefined, "x"),
  role: fc.constantFrom(undefined, ...SIGNAL_ROLES),
});

describe("any text", () => {
  test("is read without throwing, with the reason if unknown, in the printed format", () => {
    fc.assert(
      fc.property(anyText, anyExpected, (text, expected) => {
        const reading = readAgentText(text, expected);
        readingSchema.parse({ schema: "remand.reading/1", ...reading });
        if (reading.result === "unknown") expect(reading.problems.length).toBeGreaterThan(0);
        expect(reading.kind === "unknown").toBe(reading.result === "unknown");
        expect(reading.kind === "signal").toBe(reading.signal !== null);
      }),
      { numRuns: 1000 },
    );
  });

  test("a pass or a rejection is never another story's", () => {
    fc.assert(
      fc.property(anyText, anyExpected, (text, expected) => {
        const reading = readAgentText(text, expected);
        if (reading.result !== "unknown") expect(reading.idMatches).not.toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test("never passes without a signal at the start of a line, JSON or YAML", () => {
    const noData = anyText.map((text) => text.replaceAll(/[{}]/g, "").replaceAll(/passed|verdict/g, "so"));
    const noSignal = noData.map((text) => text.replaceAll(/_(PASSED|FOR_REVIEW)/g, "-$1"));
    fc.assert(
      fc.property(noSignal, anyExpected, (text, expected) => {
        expect(["pass", "ready"]).not.toContain(readAgentText(text, expected).result);
      }),
      { numRuns: 1000 },
    );
  });

  test("a signal in a fence does not count", () => {
    fc.assert(
      fc.property(anyText, anyExpected, fc.constantFrom("`", "~"), fc.boolean(), (text, expected, char, isClosed) => {
        // The fence is longer than any run of its character inside.
        const fence = char.repeat(50);
        const closed = isClosed ? `\n${fence}\n` : "";
        expect(readAgentText(`${fence}\n${text}${closed}`, expected).kind).not.toBe("signal");
      }),
      { numRuns: 1000 },
    );
  });

  test("a signal in a quotation does not count", () => {
    fc.assert(
      fc.property(anyText, anyExpected, (text, expected) => {
        const quoted = text.split("\n").map((line) => `> ${line}`);
        expect(readAgentText(quoted.join("\n"), expected).kind).not.toBe("signal");
      }),
      { numRuns: 500 },
    );
  });

  test("two different signals of one story are never a pass", () => {
    const two = fc.uniqueArray(fc.constantFrom(...SIGNALS), { minLength: 2, maxLength: 3 });
    fc.assert(
      fc.property(
        two,
        fc.array(
          fc.string({ maxLength: 20 }).map((line) => ` ${line}`),
          { maxLength: 3 },
        ),
        (signals, between) => {
          const text = signals
            .map((signal) => `${signal}: x\n`)
            .join(`${between.join("\n").replaceAll(/[`~{}]/g, "")}\n`);
          expect(["blocked", "unknown"]).toContain(readAgentText(text, { id: "x" }).result);
        },
      ),
    );
  });

  test("a signal is read after any harmless prose", () => {
    const prose = fc.array(fc.stringMatching(/^[a-z ,.]{0,40}$/), { maxLength: 20 });
    fc.assert(
      fc.property(prose, fc.constantFrom(...SIGNALS), fc.constantFrom("\n", "\r\n"), (lines, signal, end) => {
        const reading = readAgentText([...lines, `${signal}: x`, ""].join(end), { id: "x" });
        expect(reading).toMatchObject({ kind: "signal", signal, id: "x", idMatches: true });
      }),
    );
  });
});

describe("requested formats can be read", () => {
  const text = fc.stringMatching(/^[A-Za-z][ A-Za-z.,'"{}:-]{0,40}[a-z]$/);
  const issue = fc.record(
    {
      severity: fc.constantFrom("blocker", "critical", "major", "minor", "info" as const),
      category: text,
      file: text,
      line: fc.integer({ min: 1, max: 100_000 }),
      description: text,
      suggestedFix: text,
      criterion: text,
    },
    { requiredKeys: ["severity", "category", "description"] },
  );

  test("a rejection with all its issues", () => {
    fc.assert(
      fc.property(fc.array(issue, { maxLength: 5 }), fc.constantFrom(0, 2), (issues, indent) => {
        const verdict = verdictSchema.parse({ id: "x", passed: false, issues });
        const reading = readAgentText(`Here it is.\n\n${JSON.stringify(verdict, null, indent)}\n`, {
          id: "x",
          role: "critic",
        });
        expect(reading).toMatchObject({ kind: "verdict", result: "fail", idMatches: true });
        expect(reading.findings.map(({ message, severity, line }) => [message, severity, line])).toEqual(
          issues.map(({ description, severity, line }) => [description, severity, line ?? null]),
        );
      }),
    );
  });
});
