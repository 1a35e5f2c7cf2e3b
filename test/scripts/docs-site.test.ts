import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { GROUPS, pagesOf } from "../../scripts/docs-groups.js";
import { buildSite, readPages } from "../../scripts/docs-site.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("the site of the documentation", () => {
  const pages = readPages(root);
  const { files, images, problems } = buildSite(root, pages);

  test("has no broken link, neither in the pages nor in the menu", () => {
    expect(problems).toEqual([]);
    const there = new Set([...files.keys(), ...images.map((path) => path.replace(/^docs\//, ""))]);
    const html = [...files].filter(([path]) => path.endsWith(".html"));
    const broken = html.flatMap(([path, text]) =>
      [...text.matchAll(/ (?:href|src|srcset)="([^"#:]+)(?:#([^"]*))?"/g)].flatMap(([, target = "", anchor]) => {
        const to = posix.join(posix.dirname(path), target);
        const isFound = there.has(to) && (anchor === undefined || files.get(to)!.includes(`id="${anchor}"`));
        return isFound ? [] : [`${path}: ${target}#${anchor ?? ""}`];
      }),
    );
    expect(broken).toEqual([]);
    expect(html).toHaveLength(pages.length);
  });

  test("lists every page once in its menu, and in the lists for language models", () => {
    const listed = GROUPS.flatMap(([, of]) => pagesOf(pages, of)).map(({ source }) => source);
    expect(listed.sort()).toEqual(pages.map(({ source }) => source).sort());
    expect(pages.filter(({ path }) => !files.get("llms.txt")!.includes(`](${path}.md)`))).toEqual([]);
    expect(pages.filter(({ markdown }) => !files.get("llms-full.txt")!.includes(markdown.trim()))).toEqual([]);
    expect(
      pages.filter(({ about }) => !/^\S.{10,400}\.$/.test(about)).map(({ source, about }) => [source, about]),
    ).toEqual([]);
  });

  test("finds a heading by search, with the page's address", () => {
    const sections = JSON.parse(files.get("search.json")!) as { title: string; url: string; text: string }[];
    expect(sections.find(({ title }) => title === "Flaky tests")).toMatchObject({
      url: "guide/checks.html#flaky-tests",
      text: expect.stringContaining("quarantined"),
    });
  });
});

test("reports a broken link or anchor", () => {
  const page = {
    source: "docs/x.md",
    path: "x",
    title: "X",
    about: "",
    markdown: "# X\n\n[a](y.md) [b](#c) [d](#x) ![e](no.png)\n",
  };
  expect(buildSite(root, [page]).problems).toEqual(["docs/x.md: y.md", "docs/x.md: #c", "docs/x.md: no.png"]);
});
