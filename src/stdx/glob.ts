/**
 * Whether a path matches a pattern: `*` within a folder, `**` across folders, `?`, `{a,b}`. The matcher makes one pass
 * over the pattern per position in the path (dynamic programming), so no pattern can make it slow.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  return expandBraces(pattern).some((plain) => matchesPlain(path, plain));
}

export function matchesAnyGlob(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesGlob(path, pattern));
}

type Token = { readonly kind: "char"; readonly char: string } | { readonly kind: "one" | "some" | "folders" | "rest" };

/** Does the same without `{a,b}`: braces are ordinary characters. */
export function matchesPlain(path: string, pattern: string): boolean {
  const wild = pattern.search(/[*?]/);
  if (wild < 0) return path === pattern;
  // Most paths differ from most patterns long before the first star.
  if (!path.startsWith(pattern.slice(0, wild))) return false;
  const tokens = tokensOf(pattern);
  let reached = closure(tokens, new Set([0]), true);
  for (let i = 0; i < path.length; i++) {
    const char = path[i]!;
    const next = new Set<number>();
    for (const at of reached) step(tokens[at], at, char, next);
    if (next.size === 0) return false;
    reached = closure(tokens, next, char === "/");
  }
  return reached.has(tokens.length);
}

function step(token: Token | undefined, at: number, char: string, next: Set<number>): void {
  if (token === undefined) return;
  switch (token.kind) {
    case "char":
      if (token.char === char) next.add(at + 1);
      return;
    case "one":
      if (char !== "/") next.add(at + 1);
      return;
    case "some":
      if (char !== "/") next.add(at);
      return;
    case "folders":
    case "rest":
      next.add(at);
  }
}

/**
 * Returns the positions reachable without reading a character: stars may match nothing; a double star ends only at a
 * folder boundary.
 */
function closure(tokens: readonly Token[], from: Set<number>, atEdge: boolean): Set<number> {
  for (const at of from) {
    const kind = tokens[at]?.kind;
    if (kind === "some" || kind === "rest" || (kind === "folders" && atEdge)) from.add(at + 1);
  }
  return from;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    if (pattern.startsWith("**/", i)) {
      tokens.push({ kind: "folders" });
      i += 2;
    } else if (pattern.startsWith("**", i)) {
      tokens.push({ kind: "rest" });
      i += 1;
    } else if (pattern[i] === "*") tokens.push({ kind: "some" });
    else if (pattern[i] === "?") tokens.push({ kind: "one" });
    else tokens.push({ kind: "char", char: pattern[i]! });
  }
  return tokens;
}

/** The most alternatives of one pattern: `{a,b}{a,b}…` would otherwise double forever. */
const MOST_ALTERNATIVES = 64;

function expandBraces(pattern: string): string[] {
  let done: string[] = [""];
  let rest = pattern;
  for (;;) {
    const open = rest.indexOf("{");
    const close = open < 0 ? -1 : rest.indexOf("}", open);
    if (close < 0) return done.map((head) => head + rest);
    const head = rest.slice(0, open);
    const choices = rest.slice(open + 1, close).split(",");
    done = done.flatMap((before) => choices.map((choice) => before + head + choice)).slice(0, MOST_ALTERNATIVES);
    rest = rest.slice(close + 1);
  }
}
