import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { appendAnswers } from "../../../src/compose/journal/append-answer.ts";
import { stateFolder } from "../../../src/compose/state-folder.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { story } from "../../kit/story-world.ts";

const root = mkdtempSync(join(tmpdir(), "remand-together-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("events for many stories", () => {
  it("are all written, and those of one story in their order", async () => {
    const { journal: file, path } = stateFolder(root);
    mkdirSync(path, { recursive: true });
    const names = Array.from({ length: 1100 }, (_, index) => `story-${index}`);
    const journal = await createSqliteJournal(file);
    await Promise.all(
      names.map((name) => journal.append(storyId(name), 0, [{ type: "story.added", story: story(name) }], 1)),
    );
    const before = (await journal.head()).position;
    const held: Event = { type: "story.held", by: "ada" };
    const released: Event = { type: "story.released", by: "ada" };
    const streams = [
      ...names.map((name) => ({ stream: storyId(name), events: [held] })),
      { stream: storyId("story-1099"), events: [released] },
      { stream: storyId("story-1099"), events: [held] },
    ];
    await appendAnswers(root, null, streams, { type: "person", identity: "terminal" }, {});
    const written: string[] = [];
    const last: string[] = [];
    for await (const line of journal.read(before)) {
      written.push(line.story!);
      if (line.story === "story-1099") last.push(line.event.type);
    }
    await journal.close();
    expect(new Set(written).size).toBe(names.length);
    expect(written).toHaveLength(streams.length);
    expect(last).toEqual(["story.held", "story.released", "story.held"]);
  });
});
