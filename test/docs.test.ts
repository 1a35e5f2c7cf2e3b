/**
 * The commands that README.md and docs/guide/*.md show are run, and must do what the document says.
 *
 * How an example is written (what stands after the language is not shown to readers):
 *
 * - ```sh                      The block is run by bash (-e, -u, pipefail), with `remand` on the path, in a folder of
 *                              the document's own. Blocks of one document run in order in the same folder, where
 *                              scripts can import "remand".
 * - `# exit 3`                 At the very end of the block: it ends with this code. Without it: with 0.
 * - ```text or ```json         Directly after an sh block: its whole output, both streams. `…` stands for any text;
 *                              alone on its line it stands for any lines, none included.
 * - ```<any> file=path/to.md   The block is written to that file of the folder, before what follows it is run.
 * - ```sh in-repository        The block is run at the root of the repository; a leading `npm ci && ` or
 *                              `npm ci && npm run build && ` is left out.
 * - ```sh no-run="reason"      The block is not run, for that reason.
 *
 * Other fences are left alone, but ```bash, ```shell, ```console and ```zsh are refused: they would hide an example.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { blocksOf, isShown, runSteps, stepsOf } from "./docs/examples.ts";
import { runsAll } from "./sampled.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = `${root}dist/main.js`;

const guide = existsSync(`${root}docs/guide`) ? readdirSync(`${root}docs/guide`).sort() : [];
const documents = ["README.md", ...guide.filter((name) => name.endsWith(".md")).map((name) => `docs/guide/${name}`)];

/** The commands of these pages are also run by other pages, or by tests in `test/e2e/` and `test/cli/`. */
const IN_FULL = ["answers", "blame", "checks", "dashboard", "delivery", "library", "notifications", "phases", "review"];
const inFull = new Set(IN_FULL.map((name) => `docs/guide/${name}.md`));

describe("the documents", () => {
  const there = documents.filter((name) => existsSync(root + name));
  test.each(there.filter((name) => runsAll || !inFull.has(name)))("%s shows what happens", (name) => {
    // As one text: a report of arrays would leave out what was printed instead.
    expect(runSteps(stepsOf(readFileSync(root + name, "utf8")), main).join("\n")).toBe("");
  });

  test("every page that the test command leaves out is there, and its examples can be read", () => {
    for (const name of inFull) expect(stepsOf(readFileSync(root + name, "utf8")).length, name).toBeGreaterThan(0);
  });

  test("the README's test command is what CI runs", () => {
    const [, section = ""] = readFileSync(`${root}README.md`, "utf8").split(/^## Two commands$/m);
    const commands = blocksOf(section.split(/^## /m)[0]!).filter(({ info }) => info.split(" ")[0] === "sh");
    const ci = readFileSync(`${root}.ci/run`, "utf8").trimEnd().split("\n");
    expect(commands).toHaveLength(2);
    expect(ci.at(-1)).toBe(commands[1]!.text.trim());
    expect(ci.slice(0, -1).filter((line) => !line.startsWith("#"))).toEqual([
      "set -euo pipefail",
      'cd "$(dirname "$0")/.."',
    ]);
  });
});

describe("the test of the documents", () => {
  const complaints = (...lines: readonly string[]): readonly string[] => runSteps(stepsOf(lines.join("\n")), main);

  test("is content with an example that is right", () => {
    expect(
      complaints(
        "```md file=a/b.md",
        "hello",
        "```",
        "```sh",
        "cat a/b.md",
        "remand --version",
        "```",
        "",
        "```text",
        "hello",
        "…",
        "```",
      ),
    ).toEqual([]);
    expect(
      complaints("```sh", "echo x >&2; remand nosuch >/dev/null 2>&1 # exit 2", "```", "```text", "x", "```"),
    ).toEqual([]);
    expect(
      complaints(
        "```sh in-repository",
        "npm ci && npm run build && cat package.json",
        "```",
        "```text",
        "{",
        '  "name": "remand",',
        "…",
        "```",
      ),
    ).toEqual([]);
  });

  test("sees a wrong output, a wrong exit code, and a command that fails before the last", () => {
    expect(complaints("", "```sh", "echo one", "```", "```text", "two", "```")).toEqual([
      "line 2: the document shows\ntwo\n\nbut the output is\none\n",
    ]);
    expect(complaints("```sh", "false", "```")).toEqual(["line 1: ended with 1 instead of 0:\n"]);
    expect(complaints("```sh", "true # exit 3", "```")).toEqual(["line 1: ended with 0 instead of 3:\n"]);
    expect(complaints("```sh", "false", "true", "```")).toHaveLength(1);
  });

  test("compares only an output that follows at once", () => {
    expect(complaints("```sh", "echo one", "```", "Elsewhere:", "```text", "two", "```")).toEqual([]);
  });

  test("refuses fences that would hide an example, and files outside the folder", () => {
    expect(() => complaints("```bash", "false", "```")).toThrow("line 1: commands are shown as ```sh");
    expect(() => complaints("```sh norun", "false", "```")).toThrow("line 1: ```sh norun is none of");
    expect(() => complaints("```sh no-run", "false", "```")).toThrow("line 1");
    expect(() => complaints("```sh", "false")).toThrow("never closed");
    expect(complaints("```txt file=../x", "```")).toEqual(["line 1: file=../x leaves the folder"]);
    expect(complaints('```sh no-run="it needs an agent"', "false", "```")).toEqual([]);
  });

  test.each([
    ["a\nb\n", "a\nb\n", true],
    ["a\nb\n", "a\n", false],
    ["a\nb\nc\n", "a\n…\nc\n", true],
    ["a\nc\n", "a\n…\nc\n", true],
    ["a\nb\n", "a\n…\nc\n", false],
    ["took 12 ms (x)\n", "took … ms (x)\n", true],
    ["took 12 s (x)\n", "took … ms (x)\n", false],
    ["a.b\n", "a?b\n", false],
    ["", "a\n", false],
    ["a  \n", "a\n", true],
    ["remand: Running the checks (3 s so far)\na\n", "a\n", true],
  ])("%j is shown as %j: %s", (output, shown, right) => {
    expect(isShown(output, shown)).toBe(right);
  });
});
