import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createNodeFiles } from "../../../src/adapters/files/node-files.ts";
import { createStoryStore } from "../../../src/adapters/stories/story-pages.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import { storyId } from "../../../src/core/events/ids.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "remand-stories-")), "stories");
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const text = (name: string): string => readFileSync(join(folder, name), "utf8");
const store = () => createStoryStore({ folder, files: createNodeFiles() });

const PAY = "---\r\n# mine\r\nid: pay-1   # not the file's name\r\nstatus: ready\r\n---\r\n# Pay\r\n\r\nBody.\r\n";

test("stories and their problems are read from the folder", async () => {
  put("pay.md", PAY);
  put("ship.md", "---\ndepends_on: [nobody]\n---\n# Ship\n");
  put("notes.txt", "no story");
  const { stories, problems } = await store().read();
  expect(stories.map(({ id, title }) => [id, title])).toEqual([
    ["pay-1", "Pay"],
    ["ship", "Ship"],
  ]);
  expect(problems).toMatchObject([
    { file: join(folder, "ship.md"), line: 2, message: expect.stringContaining("nobody") as string },
  ]);
});

test("a missing folder has no stories", async () => {
  expect(await createStoryStore({ folder: join(folder, "none"), files: createNodeFiles() }).read()).toEqual({
    stories: [],
    problems: [],
  });
});

test("a note changes only the named keys", async () => {
  put("pay.md", PAY);
  await store().note(storyId("pay-1"), {
    status: "in-progress",
    refinement_count: 1,
    last_error: 'no: "it" failed',
    labels: ["a", "b"],
  });
  const noted = text("pay.md");
  expect(noted).toContain("status: in-progress\r\n");
  expect(noted).toContain("# mine\r\nid: pay-1   # not the file's name\r\n");
  expect(noted.endsWith("---\r\n# Pay\r\n\r\nBody.\r\n")).toBe(true);
  expect((await store().read()).problems).toEqual([]);
  await store().note(storyId("pay-1"), {
    status: "ready",
    refinement_count: undefined,
    last_error: undefined,
    labels: undefined,
  });
  expect(text("pay.md")).toBe(PAY);
  expect(readdirSync(folder)).toEqual(["pay.md"]);
});

test("a note without changes does not write the file", async () => {
  put("pay.md", PAY);
  const before = statSync(join(folder, "pay.md"));
  await store().note(storyId("pay-1"), { status: "ready" });
  expect(statSync(join(folder, "pay.md")).ino).toBe(before.ino);
});

test("a file that a person edited or moved meanwhile is found, and the edit is kept", async () => {
  put("pay.md", PAY);
  const known = store();
  await known.read();
  renameSync(join(folder, "pay.md"), join(folder, "moved.md"));
  writeFileSync(join(folder, "moved.md"), `${PAY}A person's last line.\r\n`);
  put("pay.md", "---\nid: another\n---\n# Another\n");
  await known.note(storyId("pay-1"), { status: "done" });
  expect(text("moved.md")).toContain("status: done\r\n");
  expect(text("moved.md")).toContain("A person's last line.");
  expect(text("pay.md")).toBe("---\nid: another\n---\n# Another\n");
});

test("of two files with the same id, the first is the story", async () => {
  put("a.md", "---\nid: same\n---\n# A\n");
  put("b.md", "---\nid: same\n---\n# B\n");
  await store().note(storyId("same"), { status: "done" });
  expect(text("a.md")).toContain("status: done");
  expect(text("b.md")).not.toContain("status");
});

test("a story without a file, and a value that front matter cannot hold, are rejected", async () => {
  put("pay.md", PAY);
  await expect(store().note(storyId("gone"), { status: "done" })).rejects.toThrow(RemandError);
  await expect(store().note(storyId("pay-1"), { status: { deep: {} } })).rejects.toThrow(
    /a value that front matter can hold: status/,
  );
  expect(text("pay.md")).toBe(PAY);
});
