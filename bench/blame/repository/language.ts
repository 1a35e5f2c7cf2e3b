import { looksLikeTest } from "../../../src/core/blame/change.ts";
import { familyOf, maskedCode } from "../../../src/parse/code/symbols-mask.ts";

export type Language = "js" | "ts" | "py" | "braces" | "data";

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: "js",
  mjs: "js",
  cjs: "js",
  jsx: "js",
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "ts",
  py: "py",
  go: "braces",
  rs: "braces",
  java: "braces",
  kt: "braces",
  cs: "braces",
  json: "data",
  yaml: "data",
  yml: "data",
  toml: "data",
  csv: "data",
};

export function languageOf(path: string): Language | null {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending]! : null;
}

/** Build output, configuration and other supporting files: an iteration's bug is never planted in them. */
const ASIDE =
  /(?:^|\/)(?:node_modules|dist|build|out|vendor|third_party|docs?|examples?|fixtures?|__fixtures__|__mocks__|mocks?|snapshots?|__snapshots__|benchmarks?|bench|scripts?|tools|typings|types|\.[^/]+)\/|\.d\.[cm]?ts$|\.min\.|\.config\.[cm]?[jt]s$|(?:^|\/)(?:setup|conftest|noxfile|tasks)\.py$|(?:^|\/)(?:package(?:-lock)?|tsconfig[^/]*|composer|deno|lerna|turbo|nx|renovate)\.json$|(?:^|\/)(?:pyproject|Cargo|poetry)\.toml$|lock\.ya?ml$|(?:^|\/)\.[^/]+$/i;

export function isSource(path: string): boolean {
  const language = languageOf(path);
  return language !== null && language !== "data" && !ASIDE.test(path) && !looksLikeTest(path);
}

export function isData(path: string): boolean {
  return languageOf(path) === "data" && !ASIDE.test(path) && !looksLikeTest(path);
}

/** The lines of a file, and the same lines with strings and comments blanked. */
export interface Page {
  readonly path: string;
  readonly language: Language;
  readonly lines: readonly string[];
  readonly code: readonly string[];
}

export function pageOf(path: string, text: string): Page {
  return {
    path,
    language: languageOf(path) ?? "braces",
    lines: text.split("\n"),
    code: maskedCode(text, familyOf(path)).split("\n"),
  };
}

export const indentOf = (line: string): string => /^\s*/.exec(line)![0];

/** Lines after which a function's body starts, and the indent of the body. */
export function bodiesIn({ language, lines, code }: Page): { readonly after: number; readonly indent: string }[] {
  return code.flatMap((line, at) => {
    const next = lines[at + 1];
    if (next === undefined || next.trim() === "") return [];
    const indent = indentOf(next);
    if (indent.length <= indentOf(line).length) return [];
    if (language === "py")
      return /^\s*(?:async )?def \w+\(.*\).*:\s*$/.test(line) && !/^\s*(?:[rbuf]?["'])/i.test(next)
        ? [{ after: at, indent }]
        : [];
    if (language !== "js" && language !== "ts") return [];
    const isFunction =
      /^\s*(?:export )?(?:default )?(?:async )?function\b.*\{\s*$/.test(line) ||
      /^\s*(?:export )?(?:const|let) \w+ = (?:async )?\([^()]*\)[^()]*=> \{\s*$/.test(line) ||
      (/^\s+(?:static |async |public |private |protected )*[a-zA-Z_$][\w$]*\([^()]*\)[^()=]*\{\s*$/.test(line) &&
        !/^\s*(?:if|for|while|switch|catch|return|function|constructor|super)\b/.test(line));
    return isFunction ? [{ after: at, indent }] : [];
  });
}

/** The line after which top-level code can be inserted: after the imports. */
export function headEnd({ language, code }: Page): number {
  let end = -1;
  let depth = 0;
  for (const [at, line] of code.entries()) {
    const isImport =
      language === "py"
        ? /^(?:import|from)\s/.test(line)
        : /^import\b|^(?:const|let|var)\b.*\brequire\(|^["']use strict["']/.test(line);
    if (depth === 0 && !isImport && line.trim() !== "" && !/^\s*(?:["'#/*]|@)/.test(line)) break;
    depth += (line.match(/[([{]/g) ?? []).length - (line.match(/[)\]}]/g) ?? []).length;
    if (depth === 0 && (isImport || /^[)}]/.test(line))) end = at;
  }
  return end;
}
