import { describe, expect, it } from "vitest";
import type { StoryEdit } from "../../src/ports/files.ts";
import { createStoryEditor } from "../../src/app/story-editor.ts";
import { memoryFiles } from "../kit/memory-files.ts";

const LOGIN = "---\ntitle: Log in\n---\n\n- [ ] it works\n";
const editorOf = (texts: Record<string, string>) => {
  const files = memoryFiles(texts);
  return { files, editor: createStoryEditor({ cwd: "/work", env: {}, files }, undefined) };
};
const edit = (id: string, text: string, more: Partial<StoryEdit> = {}): StoryEdit => ({
  id,
  text,
  before: null,
  isCheck: false,
  ...more,
});

describe("writing a story", () => {
  it("writes a new story into the stories folder", async () => {
    const { editor, files } = editorOf({ "/work/remand.yaml": "version: 1\npreset: goal\nstories: tasks\n" });
    const done = await editor.write(edit("login", LOGIN));
    expect(done).toEqual({ file: "tasks/login.md", problems: [], isWritten: true });
    expect(await files.read("/work/tasks/login.md")).toBe(LOGIN);
    expect(await editor.read("login")).toEqual({ file: "tasks/login.md", text: LOGIN });
  });

  it("writes no text with an error, and nothing if it only validates", async () => {
    const { editor, files } = editorOf({});
    const wrong = await editor.write(edit("login", LOGIN.replace("title", "depends_on: [nosuch]\ntitle")));
    expect(wrong).toMatchObject({ isWritten: false, problems: [{ severity: "error", line: 2 }] });
    expect(await editor.write(edit("login", LOGIN, { isCheck: true }))).toMatchObject({ isWritten: false });
    expect(await files.read("/work/stories/login.md")).toBeNull();
  });

  it("finds a story by the id in its file, and reports problems that a change causes in others", async () => {
    const { editor } = editorOf({
      "/work/stories/01.md": LOGIN.replace("title", "id: login\ntitle"),
      "/work/stories/cart.md": "---\ntitle: Cart\ndepends_on: [login]\n---\n\n- [ ] a\n",
    });
    const { file, text } = (await editor.read("login"))!;
    expect(file).toBe("stories/01.md");
    const circle = text.replace("id: login", "id: login\ndepends_on: [cart]");
    const { problems } = await editor.write(edit("login", circle, { before: text }));
    expect(problems.map(({ message }) => message).join()).toMatch(/wait for (each other|one another)|cycle|circle/);
    const renamed = await editor.write(edit("login", text.replace("id: login", "id: logn"), { before: text }));
    expect(renamed).toMatchObject({ isWritten: false });
    expect(renamed.problems[0]!.message).toContain('its id is "logn"');
  });

  it.each([
    ["../x", "cannot be a story's id"],
    ["HEAD", "cannot be a story's id"],
    ["login", "there is a story login already"],
  ])("refuses the id %s for a new one", async (id, message) => {
    const { editor } = editorOf({ "/work/stories/login.md": LOGIN });
    await expect(editor.write(edit(id, LOGIN))).rejects.toThrow(message);
  });

  it("does not overwrite a concurrent edit", async () => {
    const { editor, files } = editorOf({ "/work/stories/login.md": LOGIN });
    const work = editor.write(edit("login", `${LOGIN}- [ ] mine\n`, { before: LOGIN.replace("works", "worked") }));
    await expect(work).rejects.toThrow("changed on disk since you opened it");
    expect(await files.read("/work/stories/login.md")).toBe(LOGIN);
  });
});
