import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brief, config, parse, stories, type BriefInput } from "../../src/index.ts";

let root: string;
const env = {};
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "remand-library-"));
  mkdirSync(join(root, "stories"));
  writeFileSync(join(root, "remand.yaml"), "version: 1\npreset: goal\nlimits: { failures: 2 }\n");
  writeFileSync(join(root, "other.yaml"), "version: 1\npreset: story\n");
  writeFileSync(join(root, "stories/one.md"), "---\nid: one\ntitle: One\nstatus: ready\n---\n\nDo it.\n");
  writeFileSync(join(root, "stories/bad.md"), "---\nid: bad\ntitle: Bad\npriority: high\n---\n\nDo it.\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("parse reads an agent's text, for the story and the role", async () => {
  const text = "REVIEW_FAILED: one\n\nIssues Found:\n- src/a.ts:4: wrong\n";
  expect(await parse(text, { id: "one", role: "critic" })).toMatchObject({
    result: "fail",
    findings: [{ file: "src/a.ts", line: 4, message: "wrong" }],
  });
  expect(await parse(text, { id: "two", role: "critic" })).toMatchObject({ result: "unknown" });
  expect(await parse("nothing of the kind")).toMatchObject({ result: "unknown", kind: "unknown" });
});

test("brief writes a document's brief, with the same bytes each time, and within the requested size", async () => {
  const document: BriefInput = {
    schema: "remand.brief/1",
    story: { id: "one", title: "One" },
    required: [{ message: "the delay is not capped", file: "src/retry.ts", line: 41 }],
    evidence: [{ title: "log", text: "x".repeat(40_000) }],
  };
  const { text, cuts } = await brief(document);
  expect(text).toContain("the delay is not capped");
  expect(await brief(document)).toEqual({ text, cuts });
  const short = await brief(document, { maxChars: 10_000, nonce: "abcdefgh12" });
  expect(short.text.length).toBeLessThanOrEqual(10_000);
  expect(short.cuts).not.toEqual([]);
});

test.each([
  [{ schema: "remand.brief/1" }, {}, "input-invalid", "story"],
  [{ schema: "remand.brief/1", story: { id: "a" } }, { maxChars: 10 }, "usage", "maxChars"],
  [{ schema: "remand.brief/1", story: { id: "a" } }, { nonce: "short" }, "usage", "nonce"],
])("brief refuses %j with %j", async (document, options, code, message) => {
  await expect(brief(document as BriefInput, options)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message) as unknown,
  });
});

test("config resolves the project's file, another file, or a value", async () => {
  const own = await config({ root, env });
  expect(own.config).toMatchObject({ preset: "goal", limits: { failures: 2 } });
  expect(own.origins.get("limits.failures")).toEqual({ layer: "project", file: "remand.yaml", line: 3 });
  expect((await config({ root, env, config: "other.yaml" })).config).toMatchObject({ preset: "story" });
  const value = await config({ root, env, config: { preset: "factory" }, set: ["limits.failures=4"] });
  expect(value.config).toMatchObject({ preset: "factory", limits: { failures: 4 } });
  expect((await config({ root, env, set: ["limits.failures=400"] })).problems).toMatchObject([{ severity: "error" }]);
});

test("stories lists the valid stories, and the problems of the others", async () => {
  const read = await stories({ root, env });
  expect(read.stories.map(({ id }) => id)).toContain("one");
  expect(read.problems).toMatchObject([{ file: "stories/bad.md", line: 4 }]);
});
