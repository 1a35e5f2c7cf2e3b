/**
 * Documents use plain words. The lint checks comments and strings of the source; this test reads every document of the
 * repository with the same functions.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { pronoun, replacedWord } from "../scripts/lint/words.js";
import { filesBelow } from "./docs/mentions.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Its entries describe released versions, in the words of those versions. */
const HISTORY = new Set(["CHANGELOG.md"]);
/** Not part of the repository: installed, built or left by a run. */
const UNTRACKED = new Set(["node_modules", "dist", "coverage"]);

const entries = readdirSync(root, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
const folders = entries.filter((entry) => entry.isDirectory() && !UNTRACKED.has(entry.name));
const top = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
const documents = [
  ...top,
  ...filesBelow(
    root,
    folders.map(({ name }) => name),
  ),
]
  .filter((path) => path.endsWith(".md") && !HISTORY.has(path))
  .sort();

/** Each line with a word that is not used here, with its number and the better word. */
function unplainLines(text: string): readonly string[] {
  return text.split("\n").flatMap((line, index) => {
    const problem = replacedWord(line) ?? pronoun(line);
    return problem === null ? [] : [`${index + 1}: ${problem}`];
  });
}

describe("words of the documents", () => {
  test.each(documents)("%s uses plain words", (path) => {
    expect(unplainLines(readFileSync(root + path, "utf8"))).toEqual([]);
  });

  test("all documents are read", () => {
    expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/guide/checks.md", "plugin/roles/critic.md"]));
    expect(documents.length).toBeGreaterThan(60);
  });

  test("a replaced word and a pronoun are reported with their line", () => {
    // Joined, because the lint reads this file, too.
    const replaced = ["me", "nd"].join("");
    expect(unplainLines(`The agent fixes it.\nThe agent can ${replaced} it.`)).toEqual([
      `2: "${replaced}": write "fix"`,
    ]);
    expect(unplainLines("Nobody reviews it.")).toEqual(['1: "Nobody" does not say who or what: name it']);
  });
});
