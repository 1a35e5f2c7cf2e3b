import type { ChangedHunk, CodeFile } from "../../core/blame/change.ts";

/** The kind of edit that a hunk is, by its words alone. Shares are from 0 to 1. */
export interface EditKind {
  /** Nothing that runs has changed: only comments, layout, the order of imports. */
  readonly isNeutral: boolean;
  /** Written differently with hardly a change of meaning: braces, mirrored comparisons, a value that got a name. */
  readonly isRestated: boolean;
  /** The same code with a name changed throughout. */
  readonly isRename: boolean;
  /** Everything added uses only names that did not exist before, and nothing was removed. */
  readonly isFresh: boolean;
  readonly isImport: boolean;
  readonly isDocument: boolean;
  readonly isData: boolean;
  /** A few words inside an otherwise equal line: 1 for one word, less for more. */
  readonly small: number;
  /** The changed words are operators, numbers, strings, `await`, `not`, `return`. */
  readonly isSlipLike: boolean;
  /** Lines were removed and none added. */
  readonly isRemoval: boolean;
  /** Lines were added to existing code. */
  readonly isInsertion: boolean;
  /** A new file, or parts with new names that no existing code could use. */
  readonly isNew: boolean;
}

const DOCUMENT =
  /\.(?:md|mdx|rst|txt|adoc|svg|png|jpe?g|gif|lock|snap)$|(?:^|\/)(?:LICENSE|CHANGELOG|README|AUTHORS)[^/]*$|(?:package-lock|composer)\.json$|pnpm-lock\.yaml$/i;
/** Files that only code hosts, editors and tools read, and no test. */
const TOOLING =
  /(?:^|\/)\.(?:github|gitlab|circleci|vscode|idea|devcontainer|changeset|husky)\/|(?:^|\/)(?:\.(?:git(?:ignore|attributes|lab-ci\.yml)|editorconfig|travis\.yml|pre-commit-config\.yaml|(?:npm|docker|prettier|eslint)ignore)|\.?(?:appveyor|codecov)\.ya?ml|azure-pipelines\.ya?ml|renovate\.json5?)$/;
const DATA =
  /\.(?:json|ya?ml|toml|ini|env|properties|csv|tsv|sql|xml|graphql|proto|cfg|conf)$|(?:^|\/)\.env|(?:^|\/)Dockerfile/i;

/** The words of both sides of a hunk, read once. */
export interface HunkTokens {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function editKind(
  hunk: ChangedHunk,
  { removed, added }: HunkTokens,
  file: CodeFile | undefined,
  before: CodeFile | undefined,
): EditKind {
  const isDocument = (DOCUMENT.test(hunk.file) || TOOLING.test(hunk.file)) && !hunk.isBinary;
  const changed = middles(removed, added);
  const count = Math.max(changed.removed.length, changed.added.length);
  const isNeutral = !hunk.isBinary && hunk.added.length + hunk.removed.length > 0 && sameWords(removed, added);
  const isSame = isNeutral || isRestated(removed, added) || declaresTypes(hunk, file);
  const isNamed = !isSame && isRename(removed, added, file, before);
  return {
    isNeutral,
    isRestated: isSame && !isNeutral,
    isRename: isNamed,
    isFresh: !isSame && !isNamed && removed.length > 0 && isFresh(removed, added, before),
    isImport:
      [...hunk.removed, ...hunk.added].every((line) => line.trim() === "" || IMPORT.test(line)) &&
      removed.length + added.length > 0,
    isDocument,
    isData: DATA.test(hunk.file) && !isDocument,
    small: removed.length > 0 && added.length > 0 && count > 0 ? 1 / (1 + (count - 1) / 4) : 0,
    isSlipLike: count > 0 && count <= 12 && [...changed.removed, ...changed.added].some((word) => SLIP.test(word)),
    isRemoval: added.length === 0 && removed.length > 0,
    isInsertion: removed.length === 0 && added.length > 0 && hunk.change !== "added" && !definesOnly(hunk, file),
    isNew: removed.length === 0 && added.length > 0 && (hunk.change === "added" || definesOnly(hunk, file)),
  };
}

const IMPORT =
  /^\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:]+|(?:const|let|var)\s.*=\s*require\(|export\s+(?:\*|\{[^}]*\})\s+from\b|#include\b|[}\]]?\s*from\s+["']|\w+,$)/;
const SLIP =
  /^(?:[<>=!+\-*/%&|^~?]+|-?\d.*|["'`].*|await|return|not|and|or|true|false|True|False|None|null|undefined|nil|break|continue|throw|raise|if|in|is)$/;
const TOKEN =
  /[A-Za-z_$][\w$]*|\d[\w.]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|[<>=!+\-*/%&|^~?]+|[^\s\w]/g;
/** Files in which `#` begins a comment, and `//` is a division. */
const HASH_COMMENTS = /\.(?:pyi?|rb|sh|ya?ml|toml|pl|r|exs?|cfg|conf|env|properties)$|(?:^|\/)(?:Dockerfile|Makefile)/i;
const MOST_TOKENS = 4000;

/** Returns the words of some lines, without comments and layout. */
export function tokensOf(lines: readonly string[], path: string): string[] {
  const isHash = HASH_COMMENTS.test(path);
  const found: string[] = [];
  let inComment = false;
  for (const line of lines) {
    const start = line.trim();
    if (inComment || start.startsWith("/*") || /^\*(?:\s|\/|$)/.test(start)) {
      inComment = !start.includes("*/") && (inComment || start.startsWith("/*"));
      continue;
    }
    if ((isHash ? /^(?:#|"""|''')/ : /^(?:\/\/|<!--|--\s)/).test(start)) continue;
    const code = line.slice(0, 2000).replace(isHash ? /\s#\s.*$/ : /\s\/\/\s.*$/, "");
    for (const [token] of code.matchAll(TOKEN)) if (token !== ";" && token !== ",") found.push(token);
    if (found.length > MOST_TOKENS) break;
  }
  return found;
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}

/** Returns what differs between two lists of words, without their common beginning and end. */
function middles(a: readonly string[], b: readonly string[]): { removed: readonly string[]; added: readonly string[] } {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let end = 0;
  while (end < a.length - from && end < b.length - from && a.at(-1 - end) === b.at(-1 - end)) end++;
  return { removed: a.slice(from, a.length - end), added: b.slice(from, b.length - end) };
}

/** Whether the meaning stayed: braces, mirrored comparisons, another notation of a number, a value with a name. */
function isRestated(removed: readonly string[], added: readonly string[]): boolean {
  const [a, b] = [plainWords(removed), plainWords(added)];
  if (a.length === 0 || b.length === 0) return false;
  if (sameWords(a, b) || sameWords(a, withoutName(b)) || sameWords(withoutName(a), b)) return true;
  const { removed: before, added: after } = middles(a, b);
  // Mirrored sides have the same meaning only around a comparison.
  const isComparison =
    before.length >= 3 &&
    before.length <= 9 &&
    before.slice(1, -1).filter((word) => COMPARISON.test(word)).length === 1;
  return isComparison && sameWords(before, after.map((word) => MIRROR[word] ?? word).reverse());
}

const COMPARISON = /^(?:[<>]=?|[!=]==?)$/;
const MIRROR: Readonly<Record<string, string>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

function plainWords(tokens: readonly string[]): string[] {
  return tokens.flatMap((token) => {
    if (token === "{" || token === "}") return [];
    if (token === "++" || token === "--") return [token === "++" ? "+=" : "-=", "1"];
    return [/^\d/.test(token) && Number.isFinite(Number(token)) ? String(Number(token)) : token];
  });
}

/** Reads `const name = value … name` as `… value`, if the name is used only once after its value. */
function withoutName(tokens: readonly string[]): readonly string[] {
  const equals = tokens.indexOf("=");
  const name = tokens[equals - 1];
  if (equals < 1 || name === undefined) return tokens;
  const uses = tokens.flatMap((token, at) => (token === name && at > equals ? [at] : []));
  if (uses.length !== 1) return tokens;
  const start = /^(?:const|let|var)$/.test(tokens[equals - 2] ?? "") ? equals - 2 : equals - 1;
  const use = uses[0]!;
  // The value ends where the statement that uses the name begins, usually at `return`.
  const next = tokens.findLastIndex(
    (token, at) => at > equals && at < use && /^(?:return|yield|throw|await)$/.test(token),
  );
  const end = next < 0 ? use : next;
  return [
    ...tokens.slice(0, start),
    ...tokens.slice(end, use),
    ...tokens.slice(equals + 1, end),
    ...tokens.slice(use + 1),
  ];
}

/** Whether the old words are all still there, in order, and the new ones use no name that existed before. */
function isFresh(removed: readonly string[], added: readonly string[], before: CodeFile | undefined): boolean {
  if (before === undefined) return false;
  const extra: string[] = [];
  let at = 0;
  for (const word of added) {
    if (word === removed[at]) at++;
    else extra.push(word);
  }
  if (at < removed.length) return false;
  const names = extra.filter(
    (word) =>
      /^[A-Za-z_$]/.test(word) &&
      !/^(?:void|const|let|var|true|false|null|None|undefined|Optional|str|int)$/.test(word),
  );
  if (names.length === 0) return false;
  const fresh = new Set(names);
  return !before.names.some((line) => line.some((name) => fresh.has(name)));
}

/** Whether a hunk is a rename: a new name replaces another one everywhere, and the other one is gone. */
function isRename(
  removed: readonly string[],
  added: readonly string[],
  file: CodeFile | undefined,
  before: CodeFile | undefined,
): boolean {
  if (removed.length !== added.length || removed.length === 0 || file === undefined || before === undefined)
    return false;
  const pairs = new Map<string, string>();
  for (const [at, word] of removed.entries()) {
    const now = added[at]!;
    if (word === now) continue;
    if (!/^[A-Za-z_$]/.test(word) || !/^[A-Za-z_$]/.test(now) || (pairs.get(word) ?? now) !== now) return false;
    pairs.set(word, now);
  }
  if (pairs.size === 0) return false;
  const [then, now] = [new Set(before.names.flat()), new Set(file.names.flat())];
  // Keywords are no names: `True` that became `False` is not a rename.
  return [...pairs].every(([old, fresh]) => then.has(old) && !now.has(old) && now.has(fresh) && !then.has(fresh));
}

/** Whether the lines are inside a TypeScript type, so that they do not exist when the code runs. */
function declaresTypes(hunk: ChangedHunk, file: CodeFile | undefined): boolean {
  if (!/\.[cm]?tsx?$/.test(hunk.file)) return false;
  const lines = [...hunk.removed, ...hunk.added]
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(?:\/[/*]|\*)/.test(line));
  if (lines.length === 0 || !lines.every((line) => TYPE_LINE.test(line))) return false;
  const around = file?.symbols.filter((symbol) => symbol.start <= hunk.start && symbol.end >= hunk.start) ?? [];
  return (
    lines.every((line) => TYPE_HEAD.test(line)) ||
    (around.length > 0 && around.every((symbol) => symbol.kind === "type"))
  );
}

const TYPE_HEAD = /^(?:export )?(?:declare )?(?:type|interface) /;
const TYPE_LINE =
  /^(?:export )?(?:declare )?(?:type|interface) |^(?:readonly )?["']?[\w$]+["']?\??: [^=]*;$|^[|&] |^[}\])>]*;?$/;

/** Whether everything that a hunk adds is a comment or a part with its own name. */
function definesOnly(hunk: ChangedHunk, file: CodeFile | undefined): boolean {
  if (file === undefined) return false;
  const inside = file.symbols.filter((symbol) => symbol.start >= hunk.start && symbol.end <= hunk.end);
  if (inside.length === 0) return false;
  for (let line = hunk.start; line <= hunk.end; line++) {
    if ((file.names[line - 1] ?? []).length === 0) continue;
    if (
      !inside.some((symbol) => symbol.start <= line && symbol.end >= line) &&
      !IMPORT.test(hunk.added[line - hunk.start] ?? "")
    )
      return false;
  }
  return true;
}
