import { describe, expect, it } from "vitest";
import { readStoryFile } from "../../../src/parse/stories/story-file.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

const read = (text: string, path = "stories/card-1.md") => readStoryFile(path, text);
const messages = (text: string): string[] =>
  read(text).problems.map((p) => `${p.line}:${p.column} ${p.severity}: ${p.message} | ${p.hint}`);

describe("readStoryFile", () => {
  it("makes a story of a file without front matter", () => {
    const { story, problems } = read("# Retry the checkout\n\nText.\n");
    expect(problems).toEqual([]);
    expect(story).toEqual({
      id: "card-1",
      title: "Retry the checkout",
      priority: 100,
      kind: "feature",
      labels: [],
      dependsOn: [],
      criteria: [],
      shelf: "ready",
      body: "# Retry the checkout\n\nText.\n",
      completed: [],
    });
    expect(read("").story).toMatchObject({ id: "card-1", title: "card-1", body: "" });
  });

  it("excuses a criterion only with a person's name and reason", () => {
    const body = "## Acceptance criteria\n\n- [ ] it opens\n- [ ] it closes\n";
    const excused = "excused: [{ criterion: AC2, by: Ada, reason: nothing closes it }]";
    const { story, problems } = read(`---\n${excused}\n---\n\n${body}`);
    expect(problems).toEqual([]);
    expect(story?.criteria).toEqual([
      { id: "AC1", text: "it opens" },
      { id: "AC2", text: "it closes", excused: { by: "Ada", reason: "nothing closes it" } },
    ]);
    expect(
      messages(`---\nexcused: [{ criterion: AC2, reason: none }, { criterion: AC3, by: A, reason: b }]\n---\n${body}`),
    ).toEqual([
      expect.stringContaining("each entry needs criterion, by and reason") as string,
      expect.stringContaining('no criterion is "AC3"') as string,
    ]);
  });

  it.each(["depends_on", "dependsOn", "dependencies"])("reads dependencies under %s", (key) => {
    expect(read(`---\n${key}: [a, b, a]\n---\n`).story?.dependsOn).toEqual(["a", "b"]);
    expect(read(`---\n${key}: a\n---\n`).story?.dependsOn).toEqual(["a"]);
  });

  it("reads a number as an id or label", () => {
    expect(read("---\nid: 42\nlabels: [1, true, s]\n---\n").story).toMatchObject({
      id: "42",
      labels: ["1", "true", "s"],
    });
  });

  it("reads role, type and limit", () => {
    const { story } = read("---\nrole: frontend\ntype: bug\nmax_refinement_attempts: 5\n---\n");
    expect(story).toMatchObject({ role: "frontend", kind: "bug", maxReworks: 5 });
  });

  it.each(["target", "tests"])("reads %s as names, files or patterns of tests, and refuses an empty one", (key) => {
    expect(read(`---\n${key}: test/cart.test.js\n---\n`).story).toMatchObject({ [key]: ["test/cart.test.js"] });
    expect(read(`---\n${key}: [adds an item, "test/legacy/**"]\n---\n`).story).toMatchObject({
      [key]: ["adds an item", "test/legacy/**"],
    });
    expect(read("---\ntitle: x\n---\n").story).not.toHaveProperty(key);
    expect(messages(`---\n${key}: [" ", a]\n---\n`)).toEqual([
      expect.stringContaining("is empty | Write the name of a test, its file, or a pattern."),
    ]);
  });

  it("counts refine as done if research is, unless the file says otherwise", () => {
    expect(read("---\nresearch_complete: true\n---\n").story?.completed).toEqual(["refine", "research"]);
    expect(read("---\nresearch_complete: true\nrefinement_complete: false\n---\n").story?.completed).toEqual([
      "research",
    ]);
    expect(read("---\nplan_complete: true\n---\n").story?.completed).toEqual(["plan"]);
  });

  it.each([
    [
      "priority: high",
      '2:11 error: `priority` must be a whole number from 0 to 1000000, and is "high" | Write such a number.',
      { priority: 100 },
    ],
    ["labels: {a: 1}", "2:9 error: `labels` must be a list, and is a map | Write it as labels: [a, b]", { labels: [] }],
    [
      "labels: [[a], b]",
      "2:10 error: each item of `labels` must be text, and this is a list | Write a word or a quoted text.",
      { labels: ["b"] },
    ],
    [
      "status: in progres",
      '2:9 error: "in progres" is not a status | did you mean "in-progress"?',
      { shelf: "backlog" },
    ],
    [
      "status: shipped",
      '2:9 error: "shipped" is not a status | Write one of backlog, ready, in-progress, done.',
      { shelf: "backlog" },
    ],
    [
      "plan_complete: 'true'",
      '2:16 error: `plan_complete` must be true or false, and is "true" | Write true or false, without quotes.',
      { completed: [] },
    ],
    [
      "max_refinement_attempts: 99",
      "2:26 error: `max_refinement_attempts` must be a whole number from 0 to 9, and is 99 | Write such a number.",
      { maxReworks: 9 },
    ],
    [
      "title: [a]",
      "2:8 error: `title` must be text, and is a list | Write it on one line: title: …",
      { title: "card-1" },
    ],
    [
      "depends_on: ['../x']",
      '2:14 error: "../x" cannot be a story\'s id | Write the id of the other story.',
      { dependsOn: [] },
    ],
    ["lables: [s]", '2:1 error: unknown key "lables" | did you mean "labels"?', { labels: [] }],
    [
      "reviews_complete: 3",
      "2:19 error: `reviews_complete` must be true or false, and is 3 | Write true or false, without quotes.",
      {},
    ],
  ])("points to `%s`, and still reads the story", (line, message, rest) => {
    expect(messages(`---\n${line}\n---\n`)).toEqual([message]);
    expect(read(`---\n${line}\n---\n`).story).toMatchObject({ id: "card-1", ...rest });
  });

  it("warns of each key that is not read, with the known ones, and leaves people's own keys alone", () => {
    const hint = /Known keys: id, title, .*depends_on.*\. A key of your own begins with "x-"\.$/;
    expect(messages("---\nestimate: 5\nx-lables: [s]\nowner: { name: Ann }\n__proto__: x\n---\n")).toEqual([
      expect.stringMatching(/^2:1 warning: unknown key "estimate": it is not read \| /),
      expect.stringMatching(/^4:1 warning: unknown key "owner": it is not read \| /),
      expect.stringMatching(/^5:1 warning: unknown key "__proto__": it is not read \| /),
    ]);
    expect(messages("---\nestimate: 5\n---\n")[0]).toMatch(hint);
    expect(messages("---\nx-estimate: 5\nx-needs: [a]\n---\n")).toEqual([]);
  });

  it("reads the statuses of S4 in other spellings", () => {
    expect(read("---\nstatus: In_Progress\n---\n").story?.shelf).toBe("in-progress");
  });

  it.each([
    ["an id that is none", "---\nid: a/b\n---\n", 2, 5],
    ["front matter that is not closed", "---\nid: a\n# T\n", 1, 1],
    ["front matter that is a list", "---\n- a\n---\n", 2, 1],
    ["broken YAML", "---\nid: a\ntitle: 'x\n---\n", 3, 9],
  ])("has no story for %s", (_what, text, line, column) => {
    const { story, problems } = read(text);
    expect(story).toBeNull();
    expect(problems[0]).toMatchObject({ line, column, severity: "error", file: "stories/card-1.md" });
  });

  it("has no story for a file whose name is not an id, and reports it", () => {
    expect(readStoryFile("stories/my story.md", "# T\n")).toMatchObject({
      story: null,
      problems: [{ line: 1, column: 1 }],
    });
  });

  it("shows every problem of a file at once", () => {
    expect(messages("---\nid: a b\npriority: x\nstatus: y\n---\n")).toHaveLength(3);
  });

  it("reports front matter that does not begin the file", () => {
    expect(messages("\n---\nid: a\n---\n")).toEqual([
      "2:1 warning: this is not read as front matter, because it does not begin the file | Put its opening --- on the first line of the file, at the beginning of the line.",
    ]);
    expect(messages("\n\n---\nno end\n")).toEqual([]);
  });

  it("reads files from any editor: byte order mark, CRLF, no end", () => {
    const { story, problems } = read(
      "\uFEFF---\r\nid: x\r\ntitle: T\r\n---\r\n## Acceptance criteria:\r\n- one\r\n- two",
    );
    expect(problems).toEqual([]);
    expect(story).toMatchObject({
      id: "x",
      title: "T",
      criteria: [
        { id: "AC1", text: "one" },
        { id: "AC2", text: "two" },
      ],
    });
  });

  it("never throws, and costs in proportion to the file", () => {
    const hostile = [
      (n: number) => "---\n" + "a: [".repeat(n / 4) + "\n---\n",
      (n: number) => "#".repeat(n),
      (n: number) => "- [ ] ".repeat(n / 6),
      (n: number) => "---\n".repeat(n / 4),
      (n: number) => "\ud800".repeat(n),
      () => "---\nid: &a [*a]\n---\n",
    ];
    for (const textOf of hostile)
      expectLinearCost(1_000_000, (n) => {
        const text = textOf(n);
        return () => expect(Array.isArray(read(text).problems)).toBe(true);
      });
  });
});

const criteria = (body: string) => read(body).story!.criteria.map(({ id, text }) => `${id} ${text}`);

describe("acceptance criteria", () => {
  it("reads boxes, bullets and numbers, nested ones with the id of what they belong to", () => {
    const body = [
      "## Acceptance Criteria",
      "",
      "- [ ] first",
      "- [x] second:",
      "  - [ ] inner one",
      "    - deeper",
      "  - [X] inner two",
      "* third",
      "1. fourth",
      "2) fifth",
    ];
    expect(criteria(body.join("\n"))).toEqual([
      "AC1 first",
      "AC2 second:",
      "AC2.1 inner one",
      "AC2.1.1 deeper",
      "AC2.2 inner two",
      "AC3 third",
      "AC4 fourth",
      "AC5 fifth",
    ]);
  });

  it("joins the lines of one item", () => {
    expect(criteria("# Acceptance Criteria\n- a\n  b\nc\n\n  d\n\nnot part of it\n- e\n---\nnor this\n")).toEqual([
      "AC1 a b c d",
      "AC2 e",
    ]);
  });

  it("ignores code, comments, other headings and rules", () => {
    const body = [
      "```md",
      "## Acceptance Criteria",
      "- in code",
      "```",
      "## Verify Acceptance Criteria",
      "- of another section",
      "<!--",
      "## Acceptance Criteria",
      "- in a comment",
      "-->",
      "### **Acceptance Criteria**",
      "* * *",
      "- real",
      "  ~~~",
      "  - in code",
      "  ~~~",
      "#### Also",
      "- real too",
      "**Must have:**",
      "- and this",
      "### Notes",
      "- not any more",
      "### Acceptance Criteria",
      "- nor this",
    ];
    expect(criteria(body.join("\n"))).toEqual(["AC1 real", "AC2 real too", "AC3 and this"]);
  });

  it("reads a bold line as a heading", () => {
    expect(criteria("**Acceptance Criteria:**\n\n- a\n\n**Constraints**\n- b\n")).toEqual(["AC1 a"]);
  });

  it("continues if the first heading has nothing under it", () => {
    expect(criteria("## Acceptance Criteria\n\n## Other\n- x\n\n## Acceptance Criteria\n- a\n")).toEqual(["AC1 a"]);
  });

  it("warns of a heading with nothing under it", () => {
    expect(messages("---\nid: a\n---\n# T\n\n## Acceptance Criteria\n\nLater.\n")).toEqual([
      "6:1 warning: there is no acceptance criterion under this heading | Write each one as a list item: - [ ] what must hold",
    ]);
  });

  it("reads a thousand and reports more; nesting ends at six levels", () => {
    const many = read(`## Acceptance Criteria\n${"- x\n".repeat(1500)}`);
    expect(many.story?.criteria).toHaveLength(1000);
    expect(many.problems).toMatchObject([{ line: 1, severity: "warning" }]);
    const deep = Array.from({ length: 9 }, (_, i) => `${"\t".repeat(i)}- x`).join("\n");
    expect(criteria(`## Acceptance Criteria\n${deep}`).map((text) => text.split(" ")[0])).toEqual([
      "AC1",
      "AC1.1",
      "AC1.1.1",
      "AC1.1.1.1",
      "AC1.1.1.1.1",
      "AC1.1.1.1.1.1",
      "AC1.1.1.1.1.2",
      "AC1.1.1.1.1.3",
      "AC1.1.1.1.1.4",
    ]);
  });
});
