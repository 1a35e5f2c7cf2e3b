/**
 * Builds the documentation as a site: `npm run docs` writes `.build/site`. Each Markdown page becomes an HTML page, and
 * is also copied unchanged. `search.json` has every section for the search, `llms.txt` lists the pages for language
 * models, and `llms-full.txt` has all of them in one text. A broken link or anchor fails the build.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { GROUPS, pagesOf } from "./docs-groups.js";

/**
 * @typedef {object} Page
 * @property {string} source Path from the root of the repository.
 * @property {string} path Path in the site, without its ending.
 * @property {string} title
 * @property {string} about The first sentence.
 * @property {string} markdown
 *
 * @typedef {object} Section
 * @property {string} page The title of its page.
 * @property {string} title
 * @property {string} url
 * @property {string} text
 */

const ROOT_PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "GLOSSARY.md",
  "CHANGELOG.md",
  "deploy/README.md",
];

/** Examples in fenced blocks, which are neither prose nor headings. */
const FENCED = /^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm;

/** @param {string} root @returns {readonly Page[]} */
export function readPages(root) {
  const docs = readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => posix.join("docs", path.replaceAll("\\", "/")))
    .sort();
  return [...ROOT_PAGES, ...docs].map((source) => {
    const markdown = readFileSync(root + source, "utf8");
    const title = /^# (.+)$/m.exec(markdown)?.[1] ?? source;
    return { source, path: sitePath(source), title: plain(title), about: firstSentence(markdown), markdown };
  });
}

/** `docs/guide/README.md` becomes `guide/index`; names of root pages become lowercase. @param {string} source */
function sitePath(source) {
  const path = source.replace(/^docs\//, "").replace(/\.md$/, "");
  const named = path.replace(/(^|\/)README$/, "$1index");
  return named.includes("/") ? named : named.toLowerCase();
}

/** @param {string} markdown */
function firstSentence(markdown) {
  const parts = markdown.replaceAll(FENCED, "").split(/\n{2,}/);
  const sentences = parts.map((part) => {
    const text = plain(part.trim())
      .replaceAll(/\s+/g, " ")
      .replace(/^(?:Status: )?accepted\.? ?/i, "");
    return (/^.*?\.(?= |$)/.exec(text)?.[0] ?? text).replace(/:$/, ".");
  });
  return sentences.find((sentence, i) => /^[A-Z"].{15,}\.$/.test(sentence) && !/^[#|]/.test(parts[i] ?? "")) ?? "";
}

/** Text without Markdown marks. @param {string} markdown */
const plain = (markdown) => markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[*`]|^#+ /gm, "");

/** The anchor of a heading, by GitHub's rules. @param {string} title */
export const slugOf = (title) =>
  plain(title)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/**
 * All files of the site except images, by path. `problems` lists broken links.
 *
 * @param {string} root
 * @param {readonly Page[]} pages
 * @returns {{ files: Map<string, string>, images: readonly string[], problems: readonly string[] }}
 */
export function buildSite(root, pages) {
  /** @type {Map<string, string>} */
  const files = new Map();
  /** @type {string[]} */
  const problems = [];
  /** @type {Set<string>} */
  const images = new Set();
  /** @type {Section[]} */
  const sections = [];
  for (const page of pages) {
    const link = (/** @type {string} */ href) => resolveLink(root, pages, page, href, images, problems);
    const { html, headings } = render(page, link);
    files.set(`${page.path}.html`, layout(pages, page, html, headings));
    files.set(`${page.path}.md`, page.markdown);
    sections.push(...sectionsOf(page));
  }
  files.set("search.json", JSON.stringify(sections));
  files.set("llms.txt", llmsText(pages));
  files.set("llms-full.txt", pages.map((page) => `<!-- ${page.source} -->\n\n${page.markdown.trim()}\n`).join("\n\n"));
  for (const name of ["site.css", "search.js"]) files.set(name, readFileSync(`${root}web/site/${name}`, "utf8"));
  return { files, images: [...images], problems };
}

/**
 * The target of a page's link on the site.
 *
 * @param {string} root
 * @param {readonly Page[]} pages
 * @param {Page} from
 * @param {string} href
 * @param {Set<string>} images
 * @param {string[]} problems
 */
function resolveLink(root, pages, from, href, images, problems) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const source = path === "" ? from.source : posix.join(posix.dirname(from.source), path).replace(/\/$/, "");
  const page = pages.find((each) => each.source === source || each.source === `${source}/README.md`);
  if (page !== undefined) {
    if (anchor !== undefined && !anchorsOf(page).includes(anchor)) problems.push(`${from.source}: ${href}`);
    return `${relativeUrl(from, `${page.path}.html`)}${anchor === undefined ? "" : `#${anchor}`}`;
  }
  if (!existsSync(root + source)) problems.push(`${from.source}: ${href}`);
  const copied = source.replace(/^docs\//, "");
  images.add(source);
  return relativeUrl(from, copied);
}

/** @param {Page} from @param {string} to */
const relativeUrl = (from, to) => posix.relative(posix.dirname(from.path), to) || posix.basename(to);

/** @param {Page} page */
const anchorsOf = (page) => headingsIn(page.markdown).map(({ id }) => id);

/** The headings outside of fenced blocks. @param {string} markdown */
function headingsIn(markdown) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  const prose = markdown.replaceAll(FENCED, "");
  return [...prose.matchAll(/^(#{1,6}) (.+)$/gm)].map(([, marks = "", title = ""]) => {
    const slug = slugOf(title);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return { depth: marks.length, title: plain(title), id: count === 0 ? slug : `${slug}-${count}` };
  });
}

/**
 * @param {Page} page
 * @param {(href: string) => string} link
 */
function render(page, link) {
  const headings = headingsIn(page.markdown);
  let heading = 0;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = headings[heading++]?.id ?? "";
        const anchor = depth === 1 ? "" : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(link(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escaped(link(href))}" alt="${escaped(text)}" loading="lazy">`;
      },
      html({ text }) {
        return text.replaceAll(/ (src|srcset|href)="([^"]+)"/g, (_, name, href) => ` ${name}="${escaped(link(href))}"`);
      },
      code({ text, lang = "" }) {
        const file = /\bfile=(\S+)/.exec(lang)?.[1];
        const caption = file === undefined ? "" : `<figcaption>${escaped(file)}</figcaption>`;
        return `<figure class="code ${escaped(lang.split(" ")[0] ?? "")}">${caption}<pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`;
      },
      table(token) {
        const row = (/** @type {typeof token.header} */ cells, /** @type {string} */ tag) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>\n${body}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parse(page.markdown, { async: false }), headings };
}

/** @param {Page} page @returns {readonly Section[]} */
function sectionsOf(page) {
  const parts = page.markdown.split(/^(?=#{1,6} )/m).filter((part) => part.startsWith("#"));
  const headings = headingsIn(page.markdown);
  let at = 0;
  /** @type {Section[]} */
  const sections = [];
  for (const part of parts) {
    const [first = "", ...rest] = part.split("\n");
    // A comment in a shell example also starts with #.
    if (plain(first.replace(/^#+ /, "")) !== headings[at]?.title) {
      const last = sections.at(-1);
      if (last !== undefined) last.text += ` ${plain(part)}`;
      continue;
    }
    const { id, title, depth } = headings[at++] ?? { id: "", title: "", depth: 1 };
    const text = plain(rest.join("\n")).replaceAll(/^`*\w* *(?:no-run="[^"]*")?$|[|-]{3,}/gm, " ");
    sections.push({ page: page.title, title, url: `${page.path}.html${depth === 1 ? "" : `#${id}`}`, text });
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, " ").trim() }));
}

/** @param {readonly Page[]} pages @param {Page} page @param {string} html @param {ReturnType<typeof headingsIn>} headings */
function layout(pages, page, html, headings) {
  const url = (/** @type {string} */ to) => relativeUrl(page, to);
  const menu = GROUPS.map(([name, listed]) => {
    const items = pagesOf(pages, listed);
    const links = items.map((each) => {
      const here = each === page ? ' aria-current="page"' : "";
      return `<li><a href="${url(`${each.path}.html`)}"${here}>${escaped(menuTitle(each))}</a></li>`;
    });
    const open = items.includes(page) || name !== "Decisions" ? " open" : "";
    return `<details${open}><summary>${name}</summary><ul>${links.join("")}</ul></details>`;
  });
  const parts = headings.filter(({ depth }) => depth === 2);
  const contents = parts.map(({ id, title }) => `<li><a href="#${id}">${escaped(title)}</a></li>`).join("");
  const onThisPage =
    parts.length < 2
      ? ""
      : `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents}</ul></nav>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(page.about)}">
<title>${escaped(page.title === "Remand" ? "Remand" : `${page.title} · Remand`)}</title>
<link rel="stylesheet" href="${url("site.css")}">
<link rel="alternate" type="text/markdown" href="${url(`${page.path}.md`)}">
<script type="module" src="${url("search.js")}"></script>
</head>
<body data-root="${url("index.html").replace(/index\.html$/, "")}">
<a class="skip" href="#page">Skip to the page</a>
<header><a class="home" href="${url("index.html")}">Remand</a>
<search><label for="search">Search</label><input id="search" type="search" placeholder="Search ( / )" autocomplete="off" aria-controls="results"><ol id="results" hidden></ol></search>
<button id="menu" type="button" aria-expanded="false" aria-controls="pages">Menu</button></header>
<div class="columns"><nav id="pages" aria-label="Pages">${menu.join("\n")}</nav>
<main id="page">
${html}
<footer><a href="${url(`${page.path}.md`)}">This page as Markdown</a></footer>
</main>${onThisPage}</div>
</body>
</html>
`;
}

/** @param {Page} page */
const menuTitle = ({ title, source }) =>
  source === "README.md" ? "What Remand is" : title.replace(/^Remand and /, "Compared with ");

/** @param {readonly Page[]} pages */
function llmsText(pages) {
  const parts = GROUPS.map(([name, listed]) => {
    const items = pagesOf(pages, listed);
    return `## ${name}\n\n${items.map(({ title, path, about }) => `- [${title}](${path}.md): ${about}`).join("\n")}\n`;
  });
  const about = pages.find(({ source }) => source === "README.md")?.about ?? "";
  return `# Remand\n\n> ${about}\n\nAll pages in one text: [llms-full.txt](llms-full.txt)\n\n${parts.join("\n")}`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const out = `${root}.build/site`;
  const pages = readPages(root);
  const { files, images, problems } = buildSite(root, pages);
  for (const problem of problems) console.error(`This link leads nowhere: ${problem}`);
  if (problems.length > 0) process.exit(1);
  rmSync(out, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  }
  for (const source of images) {
    const copy = join(out, source.replace(/^docs\//, ""));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(root + source, copy);
  }
  console.log(`${pages.length} pages and llms.txt are in ${out}; open index.html through a web server for the search`);
}
