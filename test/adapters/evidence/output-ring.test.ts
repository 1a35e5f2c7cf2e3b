import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createOutputReader, createOutputRing } from "../../../src/adapters/evidence/output-ring.ts";
import { learnSecrets } from "../../../src/adapters/process/own-secrets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { OutputPosition } from "../../../src/core/events/output-line.ts";

const LOGIN = storyId("login");
const folders: string[] = [];
const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "remand-ring-"));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function write(folder: string, texts: readonly string[], maxBytes?: number): Promise<void> {
  for (const text of texts) {
    const ring = createOutputRing({ folder, now: () => 7, ...(maxBytes === undefined ? {} : { maxBytes }) });
    ring.add(LOGIN, "attempt 1", text);
    await ring.close();
  }
}

/** Reads all lines, page by page. */
async function readAll(folder: string, after: OutputPosition | null = null) {
  const reader = createOutputReader(folder);
  const texts: string[] = [];
  let place = after;
  for (;;) {
    const page = await reader.read(LOGIN, place);
    texts.push(...page.lines.map(({ text }) => text));
    place = page.place;
    if (!page.hasMore) return { texts, place };
  }
}

describe("the output of agents and checks", () => {
  it("is read in order, with its step, and continues from the reader's position", async () => {
    const folder = freshFolder();
    await write(folder, ["one", "two"]);
    const first = await readAll(folder);
    expect(first.texts).toEqual(["one", "two"]);
    await write(folder, ["three"]);
    expect((await readAll(folder, first.place)).texts).toEqual(["three"]);
    expect(await createOutputReader(folder).lastLine(LOGIN)).toEqual({ at: 7, step: "attempt 1", text: "three" });
  });

  it("is empty if nothing was printed", async () => {
    const reader = createOutputReader(freshFolder());
    expect(await reader.read(LOGIN, null)).toEqual({ lines: [], place: { file: 0, offset: 0 }, hasMore: false });
    expect(await reader.lastLine(LOGIN)).toBeNull();
  });

  it("keeps the newest two files; a reader whose file was removed continues with the oldest one", async () => {
    const folder = freshFolder();
    const ring = createOutputRing({ folder, now: () => 7, maxBytes: 100 });
    const wrote = async (text: string): Promise<void> => {
      ring.add(LOGIN, "checks", text.padEnd(80, "."));
      await ring.close();
    };
    await wrote("a");
    const { place } = await createOutputReader(folder).read(LOGIN, null);
    for (const text of ["b", "c", "d"]) await wrote(text);
    expect(readdirSync(join(folder, LOGIN)).length).toBeLessThanOrEqual(2);
    const { texts } = await readAll(folder, place);
    expect(texts.map((text) => text[0])).toEqual(["d"]);
  });

  it("skips a line cut off by a crash, and one that is not complete yet", async () => {
    const folder = freshFolder();
    await write(folder, ["whole"]);
    appendFileSync(join(folder, LOGIN, "1.jsonl"), '{"at":1,"step":"checks","te\n{"at":8,"step":"checks","text":"ha');
    const { texts, place } = await readAll(folder);
    expect(texts).toEqual(["whole"]);
    appendFileSync(join(folder, LOGIN, "1.jsonl"), 'lf"}\n');
    expect((await readAll(folder, place)).texts).toEqual(["half"]);
  });

  it("drops lines of a flood, says how many, and never shows a secret or the beginning of one", async () => {
    const folder = freshFolder();
    learnSecrets(["s3cr3t-value-of-mine-0123456789"]);
    const ring = createOutputRing({ folder, now: () => 7 });
    ring.add(LOGIN, "checks", `${"x".repeat(3990)}s3cr3t-value-of-mine-0123456789`);
    for (let line = 0; line < 5100; line++) ring.add(LOGIN, "checks", `line ${line}`);
    await ring.close();
    const { texts } = await readAll(folder);
    expect(texts).toHaveLength(5001);
    expect(texts.at(-1)).toBe("(101 lines left out)");
    expect(texts[0]).not.toContain("s3cr3t");
  });
});
