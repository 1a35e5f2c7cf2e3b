import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { RemandError } from "../../../src/core/events/error.ts";
import { findFrontMatter } from "../../../src/stdx/text-lines.ts";
import { editFrontMatter, type EditValue } from "../../../src/write/edits/front-matter-edit.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

/** All notations of a value; `yaml` decides what each means. */
const VALUES = [
  "",
  " # nothing yet",
  " 1",
  " true # sure",
  " plain words",
  " plain words # and a comment",
  " plain words\n  going on\n\n  after a blank line",
  " it's #1",
  " 'single, it''s'",
  " 'over\n  two lines' # here",
  ' "double \\" # no comment"',
  ' "a: b" ',
  " >-\n  folded\n  text",
  " |\n  literal\n\n  # not a comment\n",
  " |+\n  kept\n\n\n",
  " | # header comment\n    deep\n   ",
  " [a, 'b, c', \"]\", it's]",
  " [\n    a, # first\n    b\n]",
  " { x: 1, y: [2, 3] } # map",
  "\n  - a\n  - b # note\n  # and\n  - c",
  "\n- a\n# between\n- b",
  " # why\n    - a",
  "\n  x: 1\n  y:\n    - 2\n  z: |\n    # text",
  "\n  # above\n  x: 1",
  " !!str 12",
  " &anchor 5",
  " -5",
  "\n  plain\n  below",
];

const KEYS = ["id", "status", "labels", "last error", '"quoted"', "'it''s'", "größe", "a.b", "x-y", "-dash"];

const entryText = fc.record({
  key: fc.constantFrom(...KEYS),
  value: fc.constantFrom(...VALUES),
  before: fc.constantFrom("", "# note\n", "\n", "\n# a\n#b\n"),
});

const frontMatter = fc
  .record({
    entries: fc.uniqueArray(entryText, { selector: (entry) => entry.key, maxLength: 6 }),
    tail: fc.constantFrom("", "# the end\n", "\n"),
    body: fc.constantFrom("", "# Title\n\n---\nstatus: no\n", "text without an end", "\n\n"),
    bom: fc.boolean(),
    crlf: fc.boolean(),
  })
  .map(({ entries, tail, body, bom, crlf }) => {
    const lines = entries.map(
      ({ key, value, before }) => `${before}${key}:${value}${value.endsWith("\n") ? "" : "\n"}`,
    );
    const text = `---\n${lines.join("")}${tail}---\n${body}`;
    return (bom ? "\uFEFF" : "") + (crlf ? text.replaceAll("\n", "\r\n") : text);
  });

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom(
    "true",
    "no",
    "null",
    "~",
    "1e3",
    "0x1f",
    "2026-01-09",
    "a: b",
    "a #b",
    "- a",
    "",
    " ",
    "'",
    "---",
    "\u2028",
    "*x",
    "a\nb\r\n\tc",
  ),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const newValue: fc.Arbitrary<EditValue | undefined> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.dictionary(fc.constantFrom("iteration", "result", "a b"), scalar), { minLength: 1, maxLength: 3 }),
  fc.constant(undefined),
);

function fieldsOf(text: string): Map<string, unknown> {
  const parts = findFrontMatter(text);
  if (parts.kind !== "closed") return new Map();
  const document = parseDocument(text.slice(parts.yamlStart, parts.yamlEnd));
  expect(document.errors).toEqual([]);
  const value: unknown = document.toJS();
  return new Map(Object.entries(value ?? {}));
}

describe("editFrontMatter", () => {
  it("sets one key and changes nothing else, byte for byte", () => {
    fc.assert(
      fc.property(
        frontMatter,
        fc.constantFrom("id", "status", "labels", "last error", "quoted", "it's", "new"),
        newValue,
        (text, key, value) => {
          const before = fieldsOf(text);
          const edited = editFrontMatter(text, { [key]: value });
          const expected = new Map(before);
          if (value === undefined) expected.delete(key);
          else expected.set(key, value);
          const after = fieldsOf(edited);
          expect([...after].toSorted(byKey)).toEqual([...expected].toSorted(byKey));
          expect(othersOf(edited, key)).toEqual(othersOf(text, key));
          if (text.includes("\r\n")) expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("is undone by setting the value back", () => {
    fc.assert(
      fc.property(frontMatter, fc.string(), (text, value) => {
        const once = editFrontMatter(text, { brand_new: value });
        expect(editFrontMatter(once, { brand_new: undefined })).toBe(text);
        expect(editFrontMatter(once, { brand_new: value })).toBe(once);
      }),
    );
  });

  it("keeps comments, quotes and order around several edits at once", () => {
    const text = [
      "---",
      "# Ann's card",
      "id: story-1 # never change",
      "status: ready   # moved by Ann",
      "updated: '2026-01-09'",
      'branch: "main"',
      "labels:",
      "    - s # small",
      "    - x",
      "own: {kept: true}",
      "---",
      "# Body",
      "",
    ].join("\n");
    const edits = {
      status: "in-progress",
      updated: "2026-01-10",
      branch: "remand/story-1",
      labels: ["s", "m"],
      last_error: "no: luck",
    };
    expect(editFrontMatter(text, edits)).toBe(
      [
        "---",
        "# Ann's card",
        "id: story-1 # never change",
        "status: in-progress   # moved by Ann",
        "updated: '2026-01-10'",
        'branch: "remand/story-1"',
        "labels:",
        "    - s",
        "    - m",
        "own: {kept: true}",
        "last_error: 'no: luck'",
        "---",
        "# Body",
        "",
      ].join("\n"),
    );
  });

  it("keeps the comment of a line whose value moves below it", () => {
    const edited = editFrontMatter("---\nruns: [] # so far\nx: 1\n---\n", { runs: [{ iteration: 1 }, {}] });
    expect(edited).toBe("---\nruns: # so far\n  - iteration: 1\n  - {}\nx: 1\n---\n");
    expect(editFrontMatter(edited, { runs: [] })).toBe("---\nruns: [] # so far\nx: 1\n---\n");
  });

  it("keeps a flow list a flow list", () => {
    expect(editFrontMatter("---\nlabels: [a]\n---\n", { labels: ["a", "b, c"] })).toBe(
      "---\nlabels: [a, 'b, c']\n---\n",
    );
  });

  it("adds a front matter to a file without one, with the file's line ends", () => {
    expect(editFrontMatter("\uFEFF# T\r\n", { status: "done" })).toBe("\uFEFF---\r\nstatus: done\r\n---\r\n# T\r\n");
    expect(editFrontMatter("", { status: "done" })).toBe("---\nstatus: done\n---\n");
    expect(editFrontMatter("# T", { status: undefined })).toBe("# T");
  });

  it("follows keys that are indented", () => {
    expect(editFrontMatter("---\n  a: 1\n---\n", { a: 2, b: 3 })).toBe("---\n  a: 2\n  b: 3\n---\n");
  });

  it.each([
    ["an unclosed front matter", "---\na: 1\n"],
    ["a flow map", "---\n{a: 1}\n---\n"],
    ["a list", "---\n- a: 1\n---\n"],
    ["an explicit key", "---\n? a\n: 1\n---\n"],
    ["a key without a colon", "---\na\n---\n"],
    ["an unclosed quote", "---\na: 'x\n---\n"],
    ["an unclosed list", "---\na: [x\n---\n"],
    ["text behind a quoted value", '---\na: "x" y\n---\n'],
    ["text behind a quoted key", '---\n"a" b: 1\n---\n'],
    ["keys that are not in line", "---\n  a: 1\nb: 2\n---\n"],
    ["an anchor that is used", "---\na: &x 1\nb: *x\n---\n"],
    ["an anchor inside a value that is used", "---\na: [&x 1]\nb: *x\n---\n"],
    ["a value that refers to itself", "---\na: &x [*x]\n---\n"],
    ["a broken value of another key", "---\na: 1\nb: [x\n---\n"],
    ["two documents", "---\na: 1\n...\nb: 1\n---\n"],
    ["lists in lists without end", `---\na: ${"[".repeat(100_000)}\n---\n`],
    [
      "maps in maps without end",
      `---\na:\n${Array.from({ length: 300 }, (_, i) => `${" ".repeat(i + 1)}a:\n`).join("")}---\n`,
    ],
    ["more than 250,000 characters", `---\na: ${"x".repeat(250_000)}\n---\n`],
    ["an anchor before a key", "---\n&x a: 1\n---\n"],
  ])("refuses %s instead of guessing", (_what, text) => {
    expect(() => editFrontMatter(text, { a: 2 })).toThrow(RemandError);
  });

  it("adds no blank lines to a block text above a removed key", () => {
    const text = "---\nx:\n  y: |+\n    kept\na: 1\n\n---\n";
    expect(editFrontMatter(text, { a: undefined })).toBe("---\nx:\n  y: |+\n    kept\n---\n");
  });

  it("changes a value with an anchor that is not used", () => {
    expect(editFrontMatter("---\na: &x 1\nb: R &D\n---\n", { a: 2, b: "c" })).toBe("---\na: 2\nb: c\n---\n");
  });

  it("costs in proportion to the file", () => {
    expectLinearCost(10_000, (n) => {
      const text = `---\n${Array.from({ length: n }, (_, i) => `key${i}: [a, b]\n`).join("")}---\n`;
      return () => expect(editFrontMatter(text, { [`key${n - 1}`]: "x" })).toContain(`key${n - 1}: x\n`);
    });
  });
});

const byKey = (a: [string, unknown], b: [string, unknown]): number => (a[0] < b[0] ? -1 : 1);

/** The text of all entries but one, with the comments between them, as lines. */
function othersOf(text: string, key: string): string[] {
  const parts = findFrontMatter(text);
  if (parts.kind !== "closed") return [text];
  const yaml = text.slice(parts.yamlStart, parts.yamlEnd);
  const document = parseDocument(yaml, { keepSourceTokens: true });
  const contents = document.contents as unknown as {
    items: { key: { value: unknown; range: number[] }; value: { range: number[] } | null }[];
  } | null;
  const item = contents?.items?.find((one) => String(one.key.value) === key);
  const outside = text.slice(0, parts.yamlStart) + text.slice(parts.yamlEnd);
  if (item === undefined) return [outside, ...yaml.split("\n").filter((line) => line.trim() !== "")];
  const start = yaml.lastIndexOf("\n", item.key.range[0]! - 1) + 1;
  const valueEnd = Math.max(item.value?.range?.[1] ?? 0, item.key.range[1]!);
  const newline = yaml.indexOf("\n", Math.max(0, yaml[valueEnd - 1] === "\n" ? valueEnd - 1 : valueEnd));
  const rest = newline < 0 ? "" : yaml.slice(newline + 1);
  return [outside, ...(yaml.slice(0, start) + rest).split("\n").filter((line) => line.trim() !== "")];
}
