/* What the documents speak of: files, names of the source, and places in other documents. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The text without its fenced blocks, which are examples. */
const prose = (markdown: string): string => markdown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, "");

const codeIn = (markdown: string): readonly string[] => [...prose(markdown).matchAll(/`([^`\n]+)`/g)].map((m) => m[1]!);

/** Links of a document to files, or to headings of them, that are not there. */
export function brokenLinks(root: string, document: string, markdown: string): readonly string[] {
  return [...prose(markdown).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].flatMap(
    ([, linked, named]) => {
      const target = linked ?? named ?? "";
      if (/^[a-z]+:/.test(target)) return [];
      const [path = "", heading] = target.split("#");
      const file = path === "" ? document : join(dirname(document), path);
      if (file !== document && !existsSync(join(root, file))) return [target];
      if (heading === undefined || !file.endsWith(".md")) return [];
      const there = file === document ? markdown : readFileSync(join(root, file), "utf8");
      return headingsOf(there).includes(heading) ? [] : [target];
    },
  );
}

/** As the places where these documents are read make an address of a heading. */
const headingsOf = (markdown: string): readonly string[] =>
  [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** Where a path in a document may begin: layers are named without `src/`, as developers call them. */
const BEGINNINGS = ["", "src/", "test/", "docs/"];

/**
 * Paths in backquotes, alone or in a command, whose file does not exist. A name without a folder may be any file of that
 * name, as in a list whose first entry names the folder. Files below `stories/` belong to the reader.
 */
export function unknownFiles(root: string, files: ReadonlySet<string>, markdown: string): readonly string[] {
  const names = new Set([...files].map((file) => file.slice(file.lastIndexOf("/") + 1)));
  const parts = codeIn(markdown).flatMap((code) => code.split(" "));
  return parts.filter((code) => {
    if (!/^[\w.@-]+(?:\/[\w.@-]+)*\.(?:[jt]sx?|json|ya?ml|md|sql)$/.test(code) || code.startsWith("stories/"))
      return false;
    return code.includes("/") ? !BEGINNINGS.some((begin) => existsSync(join(root, begin + code))) : !names.has(code);
  });
}

/** Names in backquotes that look like the source's own, and that stand nowhere in it. */
export function unknownNames(source: ReadonlySet<string>, markdown: string): readonly string[] {
  return codeIn(markdown).filter((code) => isName(code) && !source.has(code));
}

const isName = (code: string): boolean => /^(?:[a-z]+[A-Z]\w*|[A-Z]\w*[a-z]\w*)$/.test(code);

/** Every file below these folders, by its path from the root. */
export function filesBelow(root: string, folders: readonly string[]): ReadonlySet<string> {
  return new Set(
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
        .map((entry) => relative(root, join(entry.parentPath, entry.name))),
    ),
  );
}
