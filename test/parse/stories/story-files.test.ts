import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cycleText, findCycles, readStoryFiles } from "../../../src/parse/stories/story-files.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

const file = (id: string, dependsOn: readonly string[] = []) => ({
  path: `stories/${id}.md`,
  text: `---\ndepends_on: ${JSON.stringify(dependsOn)}\n---\n# ${id}\n`,
});

describe("readStoryFiles", () => {
  it("never lets a broken file hide another", () => {
    const { stories, problems } = readStoryFiles([
      file("a"),
      { path: "stories/bad.md", text: "---\nid: [\n---\n" },
      file("b", ["a", "bad"]),
    ]);
    expect(stories.map((story) => story.id)).toEqual(["a", "b"]);
    expect(problems.map((p) => `${p.file}:${p.line}`)).toContain("stories/bad.md:2");
    expect(problems.at(-1)).toMatchObject({
      file: "stories/b.md",
      message: 'story "b" depends on "bad", whose file could not be read',
      hint: "Fix that file first.",
    });
  });

  it("names the file that already has an id", () => {
    const twin = { path: "stories/z.md", text: "---\ntitle: twin\nid: a\n---\n" };
    const { stories, problems } = readStoryFiles([file("a"), twin]);
    expect(stories).toHaveLength(1);
    expect(problems).toMatchObject([
      { file: "stories/z.md", line: 3, column: 5, message: 'the id "a" is already used by stories/a.md' },
    ]);
  });

  it("refuses an id that differs from another by case alone", () => {
    const { stories, problems } = readStoryFiles([file("Login"), file("login"), file("other")]);
    expect(stories.map((story) => story.id)).toEqual(["Login", "other"]);
    expect(problems).toMatchObject([
      {
        file: "stories/login.md",
        severity: "error",
        message:
          'the id "login" differs only by case from "Login" of stories/Login.md, so their branches can be one file',
      },
    ]);
  });

  it("refuses a symbolic link, and says which story depends on it", () => {
    const { stories, problems } = readStoryFiles([{ path: "stories/a.md", text: null }, file("b", ["a"])]);
    expect(stories.map((story) => story.id)).toEqual(["b"]);
    expect(problems.map(({ file: at, message }) => `${at} ${message}`)).toEqual([
      "stories/a.md a story cannot be a symbolic link",
      'stories/b.md story "b" depends on "a", whose file could not be read',
    ]);
  });

  it("suggests a name for a missing dependency", () => {
    const { stories, problems } = readStoryFiles([file("checkout-retry"), file("b", ["checkout-rety", "nowhere"])]);
    expect(stories).toHaveLength(2);
    expect(problems.map((p) => [p.line, p.column, p.hint])).toEqual([
      [2, 14, 'did you mean "checkout-retry"?'],
      [2, 30, "Write that story, or take the dependency out."],
    ]);
  });

  it("refuses an unknown key that names stories, because the story would not wait, and warns of others", () => {
    const own = { path: "stories/b.md", text: "---\nx-epic: a\nneeds: [a, c]\nrefs: [a, x]\nepic: b\n---\n" };
    const { problems } = readStoryFiles([file("a"), file("c"), own]);
    expect(problems.map(({ line, severity, message }) => `${line} ${severity}: ${message}`)).toEqual([
      '3 error: unknown key "needs" names stories: this story would not wait',
      '4 warning: unknown key "refs": it is not read',
      '5 warning: unknown key "epic": it is not read',
    ]);
    expect(problems[0]?.hint).toBe('To make it wait, write `depends_on`. A key of your own begins with "x-": x-needs.');
  });

  it("names each cycle once, in order", () => {
    const { stories, problems } = readStoryFiles([
      file("a", ["b"]),
      file("b", ["c"]),
      file("c", ["a"]),
      file("d", ["d", "a"]),
      file("e"),
    ]);
    expect(stories).toHaveLength(5);
    expect(problems.map((p) => `${p.file} ${p.message}`)).toEqual([
      "stories/c.md these stories wait for each other: a → b → c → a",
      "stories/d.md these stories wait for each other: d → d",
    ]);
  });

  it("handles a chain of a hundred thousand stories, closed or not", () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `s${i}`);
    const graph = new Map(names.map((name, i) => [name, i + 1 < names.length ? [`s${i + 1}`] : []]));
    expect(findCycles(graph)).toEqual([]);
    graph.set("s99999", ["s0"]);
    const [cycle, ...more] = findCycles(graph);
    expect(cycle).toHaveLength(100_000);
    expect(more).toEqual([]);
    expect(cycleText(cycle!).split(" → ")).toHaveLength(21);
  });

  it("finds a cycle if there is one, and none otherwise", () => {
    const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 20 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const graph = new Map<string, string[]>();
        for (let i = 0; i < 8; i++)
          graph.set(
            String(i),
            pairs.filter(([from]) => from === i).map(([, to]) => String(to)),
          );
        const cycles = findCycles(graph);
        for (const cycle of cycles) {
          for (const [i, id] of cycle.entries()) expect(graph.get(id)).toContain(cycle[(i + 1) % cycle.length]);
        }
        expect(cycles.length > 0).toBe(isCyclic(graph));
      }),
    );
  });

  it("costs in proportion to the dependencies when everything depends on everything", () => {
    expectLinearCost(300 * 300, (dependencies) => {
      const ids = Array.from({ length: Math.sqrt(dependencies) }, (_, i) => `s${i}`);
      const files = ids.map((id) => file(id, ids));
      return () => expect(readStoryFiles(files).stories).toHaveLength(ids.length);
    });
  });
});

/** Takes away what depends on nothing, as long as there is any: what is left waits for itself. */
function isCyclic(graph: ReadonlyMap<string, readonly string[]>): boolean {
  const left = new Map(graph);
  for (;;) {
    const free = [...left].filter(([, to]) => !to.some((id) => left.has(id))).map(([id]) => id);
    if (free.length === 0) return left.size > 0;
    for (const id of free) left.delete(id);
  }
}
