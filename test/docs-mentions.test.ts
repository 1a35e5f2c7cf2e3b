/**
 * A document that speaks of what is not there any more leads a newcomer astray. What ARCHITECTURE.md, GLOSSARY.md,
 * CONTRIBUTING.md and the decisions name must exist; what there is, and a newcomer must find, must be named.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { rowOf } from "../scripts/lint/table.js";
import { COMMANDS } from "../src/cli/command-table.ts";
import { brokenLinks, filesBelow, unknownFiles, unknownNames } from "./docs/mentions.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");

const OURS = ["src", "test", "bench", "scripts", "web", "docs", "schema", "plugin", "deploy"];
const files = filesBelow(root, OURS);
const code = [...files].filter((file) => /\.[jt]sx?$/.test(file));
const words = new Set(code.flatMap((file) => read(file).match(/[A-Za-z_$][\w$]*/g) ?? []));

const markdownIn = (folder: string): readonly string[] =>
  [...files].filter((file) => file.startsWith(folder) && file.endsWith(".md")).sort();
const guide = markdownIn("docs/guide/");
const decisions = markdownIn("docs/adr/");
const aboutTheSource = ["ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", ...decisions];

/** What stands first in each row of the table of that section. */
function rowsOf(section: string): readonly string[] {
  const [, text = ""] = read("ARCHITECTURE.md").split(`## ${section}\n`);
  return [...text.split("\n## ")[0]!.matchAll(/^\| `([\w./]+)` \|/gm)].map(([, first]) => first!).sort();
}

describe("the documents", () => {
  test.each([
    ...aboutTheSource,
    "README.md",
    ...guide,
    "docs/benchmarks.md",
    "docs/scale.md",
    "docs/security.md",
    "docs/sources.md",
  ])("every link of %s leads somewhere", (document) => expect(brokenLinks(root, document, read(document))).toEqual([]));

  test.each(aboutTheSource)("%s names files and words of the source that exist", (document) => {
    expect(unknownFiles(root, files, read(document))).toEqual([]);
    expect(unknownNames(words, read(document))).toEqual([]);
  });

  test.each([
    ["docs/guide/README.md", guide],
    ["docs/adr/README.md", decisions],
  ])("%s leads to every page beside it", (index, pages) => {
    const text = read(index);
    const folder = index.slice(0, index.lastIndexOf("/") + 1);
    const names = pages.filter((page) => page !== index).map((page) => page.slice(folder.length));
    expect(names.filter((name) => !text.includes(`](${name})`))).toEqual([]);
    expect(names.length).toBeGreaterThan(10);
  });

  test("the README counts attacks as the page about verification does", () => {
    const [, tried, refused] = /^\| all \| (\d+) \| (\d+) \|/m.exec(read("docs/guide/verification.md"))!;
    expect(read("README.md")).toContain(`[${tried} attacks](docs/guide/verification.md) were tried, ${refused} are`);
  });

  test("the index of decisions has their titles", () => {
    const text = read("docs/adr/README.md");
    const titles = decisions.flatMap((page) => (page.endsWith("README.md") ? [] : [read(page).split("\n")[0]!]));
    expect(titles.filter((title) => !text.includes(`[${title.replace(/^# \d+\. /, "")}](`))).toEqual([]);
  });

  test("ARCHITECTURE.md has a row for every layer, and none for a layer that is gone", () => {
    const layers = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rowsOf("Layers").map((row) => row.replace(/\/x$/, ""))).toEqual(
      [...layers.map(({ name }) => name), "main.ts", "web"].sort(),
    );
  });

  test("ARCHITECTURE.md lets each layer import what the lint does", () => {
    const rows = [...read("ARCHITECTURE.md").matchAll(/^\| `(\w+)` \| .+ \| ([^|]+) \|$/gm)];
    const told = rows.flatMap(([, layer = "", cell = ""]) => {
      const row = rowOf(layer);
      if (row === undefined || cell === "everything") return [];
      const modules = typeof row.node === "boolean" ? [] : row.node.map((name) => `node:${name}`);
      const may = cell === "nothing" ? [] : cell.split(", ").sort();
      const types = (row.types ?? []).map((name) => `types of ${name}`);
      return [{ layer, may, row: [...row.layers, ...types, ...row.libraries, ...modules] }];
    });
    expect(told.map(({ layer, may }) => [layer, may])).toEqual(told.map(({ layer, row }) => [layer, row.sort()]));
    expect(told.length).toBeGreaterThan(12);
  });

  test("ARCHITECTURE.md tells of every adapter", () => {
    expect(rowsOf("Adapters")).toEqual(readdirSync(`${root}src/adapters`).sort());
  });

  test("every command is shown in the guide", () => {
    const shown = [...guide.map(read), read("README.md")].join("\n");
    const missing = COMMANDS.filter(({ name }) => !new RegExp(`\\bremand ${name}\\b`).test(shown));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("the words of the glossary are words of the source", () => {
    const inNames = [...words, ...code].join("\n").toLowerCase();
    const glossary = [...read("GLOSSARY.md").matchAll(/^\| \*\*(\w+)\*\* \|/gm)].map(([, word]) => word!);
    expect(glossary.filter((word) => !inNames.includes(word.toLowerCase()))).toEqual([]);
    expect(new Set(glossary).size).toBe(glossary.length);
    expect(glossary.length).toBeGreaterThan(60);
  });

  test.each(["Add a gate", "Add an agent client", "Add a stop rule"])(
    'CONTRIBUTING.md names files that exist under "%s"',
    (section) => {
      const [, rest = ""] = read("CONTRIBUTING.md").split(`## ${section}\n`);
      const text = rest.split("\n## ")[0]!;
      const paths = [...text.matchAll(/`([\w-]+(?:\/[\w.-]+)+\.ts)`/g)].map(([, path]) => path!);
      expect(paths.filter((path) => !files.has(path) && !files.has(`src/${path}`))).toEqual([]);
      expect(paths.length).toBeGreaterThanOrEqual(3);
    },
  );

  test("ARCHITECTURE.md names every file of cli, server and engine that catches a RemandError", () => {
    const [, errors = ""] = read("ARCHITECTURE.md").split("## Errors\n");
    const catching = code.filter(
      (file) => /^src\/(?:cli|server|engine)\//.test(file) && read(file).includes("instanceof RemandError"),
    );
    expect(catching.filter((file) => !errors.includes(`\`${file.slice("src/".length)}\``))).toEqual([]);
    expect(catching.length).toBeGreaterThan(3);
  });

  test("ARCHITECTURE.md names every file with a class that is no error", () => {
    const [, errors = ""] = read("ARCHITECTURE.md").split("## Errors\n");
    const declaring = code.filter(
      (file) => /^src\/.*\.ts$/.test(file) && /^(?:export )?class \w+ (?!extends \w*Error\b)/m.test(read(file)),
    );
    expect(declaring.filter((file) => !errors.includes(`\`${file.slice("src/".length)}\``))).toEqual([]);
  });

  test("CONTRIBUTING.md names commands that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...read("CONTRIBUTING.md").matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });
});

describe("the test of what documents mention", () => {
  const known = new Set(["src/decide/charge.ts"]);

  test("sees a file that is not there, by its path and by its name", () => {
    expect(unknownFiles(root, known, "`decide/charge.ts`, `charge.ts`, `test/tidy.test.ts`")).toEqual([]);
    expect(unknownFiles(root, known, "`policy/gone.ts`, `gone.ts`, `run a/b.ts`")).toEqual([
      "policy/gone.ts",
      "gone.ts",
      "a/b.ts",
    ]);
    expect(unknownFiles(root, known, "```ts\n`policy/gone.ts`\n```\n")).toEqual([]);
  });

  test("sees a name that is not in the source, and leaves words alone", () => {
    expect(unknownNames(new Set(["RunState"]), "`RunState`, `pass`, `remand run`, `S1`")).toEqual([]);
    expect(unknownNames(new Set(), "`RunState` and `costUsd`")).toEqual(["RunState", "costUsd"]);
  });

  test("sees a link that leads nowhere, and a heading that is not there", () => {
    expect(brokenLinks(root, "docs/x.md", "# A b\n[x](#a-b) [y](../README.md) [z](https://example.org)")).toEqual([]);
    expect(brokenLinks(root, "docs/x.md", "[x](#a-b) [y](README.md)")).toEqual(["#a-b", "README.md"]);
    expect(brokenLinks(root, "docs/x.md", "[x](guide/agents.md#roles) [y](guide/agents.md#rules)")).toEqual([
      "guide/agents.md#rules",
    ]);
  });
});
