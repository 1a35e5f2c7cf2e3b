import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeFiles } from "../../../src/adapters/files/node-files.ts";
import { createStoryPages } from "../../../src/adapters/stories/story-pages.ts";
import { storyId } from "../../../src/core/events/ids.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-pages-"));
  put("place/.git", "gitdir: elsewhere\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const pagesOf = (root = "root", stories = "stories") =>
  createStoryPages({ root: join(folder, root), folder: stories, files: createNodeFiles() });
const place = () => join(folder, "place");
const A = storyId("a");

describe("story pages", () => {
  it("finds the file by the story's id, and returns the person's text with it", async () => {
    put("root/stories/other.md", "# Other\n");
    put("root/stories/first.md", "---\nid: a\n---\nmine\n");
    put("place/stories/first.md", "---\nid: a\n---\ntheirs\n");
    const found = await pagesOf().find(A, place());
    expect(found).toEqual({ path: "stories/first.md", original: "---\nid: a\n---\nmine\n" });
    expect(await pagesOf().read(place(), found!.path)).toBe("---\nid: a\n---\ntheirs\n");
  });

  it("finds the file where the branch has it if the person moved or deleted theirs", async () => {
    put("root/stories/new.md", "---\nid: a\n---\n");
    put("place/stories/old.md", "---\nid: a\n---\n");
    expect(await pagesOf().find(A, place())).toMatchObject({ path: "stories/old.md" });
    rmSync(join(folder, "root/stories/new.md"));
    expect(await pagesOf().find(A, place())).toEqual({ path: "stories/old.md", original: null });
  });

  it("names the path of an uncommitted file, and writes it there", async () => {
    put("root/stories/a.md", "# A\n");
    const pages = pagesOf();
    expect(await pages.find(A, place())).toEqual({ path: "stories/a.md", original: "# A\n" });
    expect(await pages.read(place(), "stories/a.md")).toBeNull();
    await pages.write(place(), "stories/a.md", "# A, with more\n");
    expect(readFileSync(join(folder, "place/stories/a.md"), "utf8")).toBe("# A, with more\n");
    expect(readFileSync(join(folder, "root/stories/a.md"), "utf8")).toBe("# A\n");
  });

  it("uses paths from the top of the repository if the checkout is a folder below it", async () => {
    put("root/app/stories/a.md", "# A\n");
    put("place/app/stories/a.md", "# A\n");
    const pages = pagesOf("root/app");
    expect(await pages.find(A, join(place(), "app"))).toMatchObject({ path: "app/stories/a.md" });
    expect(await pages.read(join(place(), "app"), "app/stories/a.md")).toBe("# A\n");
  });

  it("returns nothing for a story without a file", async () => {
    expect(await pagesOf().find(A, place())).toBeNull();
  });

  it("neither reads nor writes through an agent's link", async () => {
    put("secret.md", "secret\n");
    put("root/stories/a.md", "# A\n");
    mkdirSync(join(folder, "place/stories"));
    symlinkSync(join(folder, "secret.md"), join(folder, "place/stories/a.md"));
    const pages = pagesOf();
    expect(await pages.find(A, place())).toMatchObject({ path: "stories/a.md" });
    expect(await pages.read(place(), "stories/a.md")).toBeNull();
    await pages.write(place(), "stories/a.md", "# A\n");
    expect(readFileSync(join(folder, "secret.md"), "utf8")).toBe("secret\n");
    expect(lstatSync(join(folder, "place/stories/a.md")).isSymbolicLink()).toBe(false);
  });

  it("rejects a folder that leads out of the worktree, and such a path", async () => {
    mkdirSync(join(folder, "outside"));
    symlinkSync(join(folder, "outside"), join(folder, "place/stories"));
    const pages = pagesOf();
    await expect(pages.write(place(), "stories/a.md", "x")).rejects.toMatchObject({ code: "workspace-broken" });
    await expect(pages.read(place(), "../secret.md")).rejects.toMatchObject({ code: "workspace-broken" });
    expect(existsSync(join(folder, "outside/a.md"))).toBe(false);
  });

  it("says that stories outside of the checkout cannot be on a branch", async () => {
    const pages = pagesOf("root", "../stories");
    for (const asked of [pages.find(A, place()), pages.read(place(), "a"), pages.write(place(), "a", "")])
      await expect(asked).rejects.toMatchObject({ code: "config-invalid" });
  });
});
