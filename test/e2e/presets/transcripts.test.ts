/**
 * The pages of `docs/guide/sources` show what the presets do for the documents they stand for. `npm run transcripts`
 * makes them; here they are made again and compared. The test command makes one of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { normalOutput, transcriptOf } from "../../docs/transcript.ts";
import { runsAll } from "../../sampled.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const pages = readdirSync(`${root}docs/guide/sources`).sort();
/** Its check is the quickest. */
const QUICK = ["s2.md"];

test("each of the five documents has its page", () => {
  expect(pages).toEqual(["s0.md", "s1.md", "s2.md", "s3.md", "s4.md"]);
});

test.each(runsAll ? pages : QUICK)("docs/guide/sources/%s shows what happens", (name) => {
  const page = readFileSync(`${root}docs/guide/sources/${name}`, "utf8");
  expect(transcriptOf(page, `${root}dist/main.js`)).toBe(page);
});

describe("a transcript", () => {
  const main = `${root}dist/main.js`;

  test("has the output below each command, in place of what stood there, and files first", () => {
    const page = ["```sh", "cat a.txt", "```", "", "```text", "old", "```", "", "```text file=a.txt", "new", "```", ""];
    expect(transcriptOf(page.join("\n"), main)).toBe(page.join("\n").replace("old", "new"));
    expect(transcriptOf("```sh\necho one\n```\n", main)).toBe("```sh\necho one\n```\n\n```text\none\n```\n");
    expect(() => transcriptOf("```sh\nfalse\n```\n", main)).toThrow("line 1: ended with 1 instead of 0");
  });

  test("has no times, hashes, durations or folders of the machine, and keeps what the page says", () => {
    const now = new Date().toISOString();
    expect(normalOutput(`${now} in /tmp/x/work/a took 12 ms at commit 0123456789ab\n`, "/tmp/x/work")).toBe(
      "… in /project/a took … s at commit …",
    );
    const kept = "2020-03-01T22:00:00Z 114.99999999999999 59 minutes esc-a-1 3_600_000";
    expect(normalOutput(kept, "/tmp/x/work")).toBe(kept);
  });
});
