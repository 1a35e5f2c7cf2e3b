import fc from "fast-check";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { capBytes, createEvidenceStore } from "../../../src/adapters/evidence/evidence-store.ts";
import { evidenceId } from "../../../src/core/events/ids.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-evidence-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe("storing", () => {
  test("returns a stored text, and its id is its hash", async () => {
    const store = createEvidenceStore(folder);
    const text = "✓ 3 tests\r\nüñ€😀\u0000\n";
    const id = await store.keep(text);
    expect(id).toBe(createHash("sha256").update(text).digest("hex"));
    expect(await store.read(id)).toBe(text);
    expect(await store.read(await store.keep(""))).toBe("");
  });

  test("writes a file that a person can read", async () => {
    const store = createEvidenceStore(folder);
    const place = store.placeOf(await store.keep("a log\n"));
    expect(place.startsWith(folder)).toBe(true);
    expect(execFileSync("gzip", ["-dc", place], { encoding: "utf8" })).toBe("a log\n");
  });

  test("stores the same text once, also by many at the same moment and by another store", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => createEvidenceStore(folder).keep("same")));
    expect(new Set(ids).size).toBe(1);
    expect(filesIn(folder)).toHaveLength(1);
    const place = createEvidenceStore(folder).placeOf(ids[0]!);
    const { mtimeMs } = statSync(place);
    await createEvidenceStore(folder).keep("same");
    expect(statSync(place).mtimeMs).toBe(mtimeMs);
  });

  test("compresses", async () => {
    const store = createEvidenceStore(folder);
    const id = await store.keep("the same line again\n".repeat(10_000));
    expect(statSync(store.placeOf(id)).size).toBeLessThan(5000);
  });

  test("writes no secret to disk", async () => {
    const store = createEvidenceStore(folder, { secrets: { literals: ["my own secret"] } });
    const token = `ghp_${"aB3".repeat(12)}`;
    const id = await store.keep(`token ${token} and my own secret, password=hunter2\n`);
    expect(await store.read(id)).toBe(
      "token [redacted:github-token] and [redacted:listed], password=[redacted:password]\n",
    );
    expect(
      await store.keep("token [redacted:github-token] and [redacted:listed], password=[redacted:password]\n"),
    ).toBe(id);
  });

  test("keeps both ends of a text over the limit, and says what was cut", async () => {
    const store = createEvidenceStore(folder, { maxBytes: 2000 });
    const text = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
    const kept = (await store.read(await store.keep(text)))!;
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(2000);
    expect(kept.startsWith("line 0\nline 1\n")).toBe(true);
    expect(kept.endsWith("line 998\nline 999\n")).toBe(true);
    expect(kept).toMatch(/\n\[\d+ of 8890 bytes were cut here: the first \d+ and the last \d+ are kept\]\nline \d+\n/);
  });

  test("redacts a secret completely that the cut would have halved", async () => {
    const token = `ghp_${"aB3".repeat(12)}`;
    const store = createEvidenceStore(folder, { maxBytes: 2000 });
    const kept = (await store.read(await store.keep(`${"x".repeat(900)} ${token} ${"y".repeat(5000)}`)))!;
    expect(kept).not.toContain("ghp_");
  });
});

describe("cutting", () => {
  test("never exceeds the limit or splits a character, whatever the text is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "é", "€", "😀", "\n", "word "), { maxLength: 800 }),
        fc.integer({ min: 200, max: 900 }),
        (parts, maxBytes) => {
          const text = parts.join("");
          const bytes = capBytes(text, maxBytes);
          expect(bytes.length).toBeLessThanOrEqual(maxBytes);
          expect(bytes.toString("utf8")).not.toContain("\ufffd");
          const whole = Buffer.byteLength(text) <= maxBytes;
          expect(bytes.toString("utf8") === text).toBe(whole);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("adds up: the kept and the cut parts are the whole text", () => {
    const text = `${"x".repeat(10_000)}\n`;
    const said = /\[(\d+) of (\d+) bytes were cut here: the first (\d+) and the last (\d+) are kept\]/.exec(
      capBytes(text, 1000).toString(),
    );
    const [cut, all, head, tail] = said!.slice(1).map(Number);
    expect(all).toBe(10_001);
    expect(cut! + head! + tail!).toBe(10_001);
  });
});

describe("errors", () => {
  test("a missing text is null, and so is an invalid id", async () => {
    const store = createEvidenceStore(folder);
    expect(await store.read(evidenceId("0".repeat(64)))).toBeNull();
    expect(await store.read(evidenceId("../../etc/passwd"))).toBeNull();
    expect(() => store.placeOf(evidenceId("../../etc/passwd"))).toThrow("an id of evidence is a hash");
  });

  test.each([
    ["a changed file", (place: string) => writeFileSync(place, gzipSync("something else"))],
    ["a cut file", (place: string) => truncateSync(place, 10)],
    ["an empty file", (place: string) => truncateSync(place, 0)],
    ["a file that is no gzip", (place: string) => writeFileSync(place, "plain")],
  ])("%s is reported as damaged, and repaired by storing the text again", async (_what, damage) => {
    const store = createEvidenceStore(folder);
    const id = await store.keep("the text, long enough to be cut");
    damage(store.placeOf(id));
    await expect(store.read(id)).rejects.toMatchObject({
      code: "evidence-corrupt",
      message: expect.stringContaining("is damaged"),
    });
    expect(await store.keep("the text, long enough to be cut")).toBe(id);
    expect(await store.read(id)).toBe("the text, long enough to be cut");
  });

  test("an unwritable folder is reported, and no temporary file is left", async () => {
    writeFileSync(join(folder, "plain"), "");
    const store = createEvidenceStore(join(folder, "plain"));
    await expect(store.keep("x")).rejects.toMatchObject({ code: "file-unreadable" });
    expect(readFileSync(join(folder, "plain"), "utf8")).toBe("");
    expect(existsSync(join(folder, "plain.new"))).toBe(false);
  });
});
