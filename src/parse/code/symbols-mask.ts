/** Families of languages that are read by keywords. They differ in comments, strings and blocks. */
export type LanguageFamily = "javascript" | "python" | "go" | "rust" | "java" | "other";

const FAMILIES: Readonly<Record<string, LanguageFamily>> = {
  ts: "javascript",
  tsx: "javascript",
  mts: "javascript",
  cts: "javascript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  vue: "javascript",
  svelte: "javascript",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  kt: "java",
  scala: "java",
  cs: "java",
};

export function familyOf(path: string): LanguageFamily {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(FAMILIES, ending) ? FAMILIES[ending]! : "other";
}

/**
 * Replaces the contents of strings and comments by spaces. Every character keeps its position, so that braces and words
 * can be counted without a grammar. One pass; an unclosed string ends with its line, or with the file if it may span
 * lines.
 */
export function maskedCode(text: string, family: LanguageFamily): string {
  if (family === "other") return text;
  const out: string[] = [];
  let at = 0;
  let from = 0;
  while (at < text.length) {
    const end = blankEnd(text, at, family);
    if (end <= at) {
      at++;
      continue;
    }
    out.push(text.slice(from, at), text.slice(at, end).replace(/[^\n]/g, " "));
    at = end;
    from = end;
  }
  out.push(text.slice(from));
  return out.join("");
}

/** Returns the end of the string or comment that begins at `at`; `at` if none does. */
function blankEnd(text: string, at: number, family: LanguageFamily): number {
  const char = text[at]!;
  if (family === "python") {
    if (char === "#") return lineEnd(text, at);
    if (char !== '"' && char !== "'") return at;
    const triple = char.repeat(3);
    return text.startsWith(triple, at) ? after(text, triple, at + 3) : quoteEnd(text, at, char);
  }
  if (char === "/") {
    if (text[at + 1] === "/") return lineEnd(text, at);
    if (text[at + 1] === "*") return after(text, "*/", at + 2);
    return family === "javascript" && beginsPattern(text, at) ? patternEnd(text, at) : at;
  }
  if (char === '"')
    return text.startsWith('"""', at) && family === "java" ? after(text, '"""', at + 3) : quoteEnd(text, at, char);
  if (char === "`")
    return family === "javascript" ? templateEnd(text, at) : family === "go" ? after(text, "`", at + 1) : at;
  if (char !== "'") return at;
  // In Rust a lone quote begins a lifetime.
  if (family === "rust") return text[at + 2] === "'" ? at + 3 : text[at + 1] === "\\" ? quoteEnd(text, at, char) : at;
  return quoteEnd(text, at, char);
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found + end.length;
}

function quoteEnd(text: string, at: number, quote: string): number {
  for (let next = at + 1; next < text.length; next++) {
    const char = text[next];
    if (char === "\\") next++;
    else if (char === quote) return next + 1;
    else if (char === "\n") return next;
  }
  return text.length;
}

function templateEnd(text: string, at: number): number {
  for (let next = at + 1; next < text.length; next++) {
    if (text[next] === "\\") next++;
    else if (text[next] === "`") return next + 1;
  }
  return text.length;
}

/** Whether a slash begins a regular expression: after a value it is a division. */
function beginsPattern(text: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && (text[before] === " " || text[before] === "\t")) before--;
  if (before < 0) return true;
  const char = text[before]!;
  if (/[\w$)\]]/.test(char))
    return /\b(?:return|typeof|case|in|of)$/.test(text.slice(Math.max(0, before - 7), before + 1));
  return char !== "<" && char !== "}";
}

function patternEnd(text: string, at: number): number {
  let inClass = false;
  for (let next = at + 1; next < text.length; next++) {
    const char = text[next];
    if (char === "\n") return at;
    if (char === "\\") next++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return next + 1;
  }
  return at;
}

/** Whether a file is code, and not types, settings or data. */
export const isCodeFile = (path: string): boolean => CODE.test(path) && !NO_CODE.test(path);

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|kts|scala|cs|rb|php|swift|c|cc|cpp|h|hpp|sh|bash)$/;
/** Types and settings have nothing that a test could notice. */
const NO_CODE = /\.d\.[cm]?ts$|(?:^|\/)[\w.-]+\.(?:config|conf)\.[cm]?[jt]s$/;
