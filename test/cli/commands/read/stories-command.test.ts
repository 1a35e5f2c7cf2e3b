import { describe, expect, it } from "vitest";
import { command } from "../../../../src/cli/commands/read/stories.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";
import { run } from "../../../kit/fake-environment.ts";

const stories = (files: Record<string, string>, argv: readonly string[] = []) =>
  run(["stories", ...argv], [command], { files: memoryFiles(files) });

const GOOD = "---\nid: login\ntitle: People can log in\npriority: 2\n---\n## Acceptance Criteria\n- [ ] a\n- [ ] b\n";

describe("remand stories", () => {
  it("lists the stories, the most urgent first", async () => {
    const { exit, out, err } = await stories({
      "/work/stories/a.md": GOOD,
      "/work/stories/search.md": "---\ndepends_on: [login]\npriority: 1\nstatus: backlog\n---\n# Search\n",
      "/work/stories/notes.txt": "no story",
      "/work/stories/done/old.md": "deeper down",
    });
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out).toBe(
      [
        "STORY   STATUS   PRIORITY  CRITERIA  TITLE              AFTER",
        "search  backlog         1         0  Search             login",
        "login   ready           2         2  People can log in  -",
        "2 stories in stories",
        "",
      ].join("\n"),
    );
  });

  it("reports cycles and missing stories with locations, and still lists everything", async () => {
    const { exit, out } = await stories({
      "/work/stories/a.md": "---\ndepends_on:\n  - b\n---\n",
      "/work/stories/b.md": "---\ndepends_on: [a, lgoin]\n---\n",
      "/work/stories/bad.md": "---\nid: [\n---\n",
      "/work/stories/login.md": GOOD,
    });
    expect(exit).toBe(2);
    expect(out).toContain(
      [
        "stories/b.md:2:14: error: these stories wait for each other: a → b → a",
        "  2 | depends_on: [a, lgoin]",
        "    |              ^",
      ].join("\n"),
    );
    expect(out).toContain('stories/b.md:2:17: error: story "b" depends on "lgoin", and there is no such story');
    expect(out).toContain('  did you mean "login"?');
    expect(out).toContain("stories/bad.md:");
    expect(out).toMatch(/\nlogin +ready/);
    expect(out).toContain("3 stories · 3 errors in stories\n");
  });

  it("refuses a mistyped key, because the story would start without it", async () => {
    const { exit, out } = await stories({ "/work/stories/a.md": "---\ndepend_on: b\n---\n" });
    expect(exit).toBe(2);
    expect(out).toContain('stories/a.md:2:1: error: unknown key "depend_on"');
    expect(out).toContain('  did you mean "depends_on"?');
  });

  it("does not fail for a warning", async () => {
    const { exit, out } = await stories({ "/work/stories/a.md": "A\n\n## Acceptance criteria\n" });
    expect(exit).toBe(0);
    expect(out).toContain("warning: there is no acceptance criterion under this heading");
    expect(out).toContain("1 story · 1 warning in stories");
  });

  it("reads the configured folder, and shows mistakes of the config", async () => {
    const files = {
      "/work/remand.yaml": "stories: work/items\n",
      "/work/work/items/x.md": GOOD,
      "/work/bad.yaml": "presett: 1\n",
    };
    expect((await stories(files)).out).toContain("1 story in work/items\n");
    const bad = await stories(files, ["--config", "bad.yaml"]);
    expect(bad.exit).toBe(2);
    expect(bad.out).toContain('bad.yaml:1:1: error: unknown key "presett"');
  });

  it("gives programs a document", async () => {
    const { exit, out } = await stories({ "/work/stories/a.md": GOOD, "/work/stories/b.md": GOOD }, ["--json"]);
    expect(exit).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      schema: "remand.stories/1",
      stories: [
        {
          id: "login",
          title: "People can log in",
          criteria: [
            { id: "AC1", text: "a" },
            { id: "AC2", text: "b" },
          ],
        },
      ],
      problems: [{ file: "stories/b.md", line: 2, column: 5, severity: "error" }],
    });
  });

  it("says so where there is no story", async () => {
    expect(await stories({})).toMatchObject({ exit: 0, out: "0 stories in stories\n" });
  });
});
