import { spliceDocTests } from "./doc-tests.ts";

/**
 * Source with the base's tests in place of the work's, for files that hold both: Rust's `#[cfg(test)]` modules, Vitest's
 * `import.meta.vitest`, and examples in comments. `null` where neither version has such tests, so that the file is the
 * product alone.
 */
export function spliceInlineTests(path: string, base: string, work: string): string | null {
  const spliced = path.endsWith(".py") ? null : spliceRegions(path, base, work);
  return spliceDocTests(path, base, spliced ?? work) ?? spliced;
}

function spliceRegions(path: string, base: string, work: string): string | null {
  const language = path.endsWith(".rs") ? RUST : SCRIPT;
  const [before, now] = [testRegions(base, language), testRegions(work, language)];
  if (before.length === 0 && now.length === 0) return null;
  let spliced = "";
  let end = 0;
  now.forEach((region, at) => {
    const own = before[at];
    spliced += work.slice(end, region.from) + (own === undefined ? "" : base.slice(own.from, own.to));
    end = region.to;
  });
  const rest = before.slice(now.length).map(({ from, to }) => `\n${base.slice(from, to)}\n`);
  return spliced + work.slice(end) + rest.join("");
}

interface Language {
  readonly opening: RegExp;
  /** Braces, and everything in which a brace means nothing: comments, texts, characters. */
  readonly marks: RegExp;
}

const RUST: Language = {
  opening: /#\[cfg\((?:test|all\([^)\]]{0,200}\btest\b[^)\]]{0,200}\))\)\]\s{0,50}(?:pub\s+)?mod\s+\w+\s*\{/g,
  marks: /\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|r(#*)"[^]*?"\1|"(?:[^"\\]|\\[^])*"?|'(?:\\[^]|[^'\\\n])'|[{}]/g,
};

const SCRIPT: Language = {
  opening: /\bif\s*\(\s*import\.meta\.vitest\s*\)\s*\{/g,
  marks:
    /\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|`(?:[^`\\]|\\[^])*`?|[{}]/g,
};

interface Region {
  readonly from: number;
  /** Behind its closing brace. */
  readonly to: number;
}

function testRegions(text: string, { opening, marks }: Language): Region[] {
  const regions: Region[] = [];
  for (const match of text.matchAll(opening)) {
    const from = match.index;
    if (from < (regions.at(-1)?.to ?? 0)) continue;
    regions.push({ from, to: closingBrace(text, from + match[0].length, marks) });
  }
  return regions;
}

/** The place behind the brace that closes what is open at `at`. */
function closingBrace(text: string, at: number, marks: RegExp): number {
  let depth = 1;
  for (const { 0: mark, index } of text.slice(at).matchAll(marks)) {
    if (mark === "{") depth++;
    else if (mark === "}" && --depth === 0) return at + index + 1;
  }
  return text.length;
}
