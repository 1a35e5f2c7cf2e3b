import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileOutbox } from "../../src/adapters/outbox/file-outbox.ts";
import { RemandError } from "../../src/domain/error.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "remand-outbox-")), "made", "when needed");
});
afterEach(() => rmSync(join(folder, "../.."), { recursive: true, force: true }));

test("what was put is there, for another process too, until it is dropped", async () => {
  const outbox = createFileOutbox(folder);
  expect(await outbox.get("checkout:3")).toBeNull();
  await outbox.put("checkout:3", "first\nünï");
  await outbox.put("checkout:3", "second\nünï\n");
  await outbox.put("checkout:4", "");
  expect(await createFileOutbox(folder).get("checkout:3")).toBe("second\nünï\n");
  expect(await createFileOutbox(folder).get("checkout:4")).toBe("");
  await outbox.drop("checkout:3");
  await outbox.drop("checkout:3");
  expect(await outbox.get("checkout:3")).toBeNull();
  expect(await outbox.get("checkout:4")).toBe("");
});

test("a key may be anything: it never becomes a path", async () => {
  const outbox = createFileOutbox(folder);
  const keys = ["../../escape", "/etc/passwd", "a\nb", "", "k".repeat(10_000), "CON"];
  for (const key of keys) await outbox.put(key, `text of ${key}`);
  for (const key of keys) expect(await outbox.get(key)).toBe(`text of ${key}`);
  expect(readdirSync(folder)).toHaveLength(keys.length);
  expect(readdirSync(join(folder, ".."))).toEqual(["when needed"]);
});

test("many at once do not disturb each other, and no half-written file stays", async () => {
  const outbox = createFileOutbox(folder);
  await Promise.all(Array.from({ length: 50 }, (_, n) => outbox.put(`s:${n % 10}`, `text ${n}`)));
  expect(readdirSync(folder).filter((name) => !name.endsWith(".txt"))).toEqual([]);
  for (let n = 0; n < 10; n++) expect(await outbox.get(`s:${n}`)).toMatch(/^text \d+$/);
});

test("a place that cannot be written, and a file that is not ours, are said in words", async () => {
  const outbox = createFileOutbox(folder);
  await outbox.put("a", "x");
  writeFileSync(join(folder, readdirSync(folder)[0]!), "something else");
  await expect(outbox.get("a")).rejects.toThrow(RemandError);
  const file = join(folder, readdirSync(folder)[0]!);
  await expect(createFileOutbox(file).put("b", "y")).rejects.toThrow(/could not be written/);
});
