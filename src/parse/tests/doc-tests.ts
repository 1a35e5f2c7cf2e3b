/**
 * Returns source with the base's tests instead of the work's, for files that hold both: Rust's `#[cfg(test)]` modules,
 * Vitest's `import.meta.vitest`, and examples in comments. `null` if neither version has such tests, so that the file
 * belongs to the product.
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
  /** Braces, and everything inside which a brace does not count: comments, strings, characters. */
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
  /** The position after its closing brace. */
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

/** Returns the position after the brace that closes the block at `at`. */
function closingBrace(text: string, at: number, marks: RegExp): number {
  let depth = 1;
  for (const { 0: mark, index } of text.slice(at).matchAll(marks)) {
    if (mark === "{") depth++;
    else if (mark === "}" && --depth === 0) return at + index + 1;
  }
  return text.length;
}

/**
 * Returns source with the base's examples instead of the work's, if comments hold examples that run as tests: fenced
 * code in Rust's documentation, `>>>` in Python's. Examples that only the work has stay. `null` if no example of the
 * base changed.
 */
export function spliceDocTests(path: string, base: string, work: string): string | null {
  const blocksOf = path.endsWith(".rs") ? rustBlocks : path.endsWith(".py") ? pythonBlocks : null;
  if (blocksOf === null) return null;
  const [before, now] = [blocksOf(base.split("\n")), blocksOf(work.split("\n"))];
  const changed = pairs(before, now).filter(([old, fresh]) => old.text !== fresh.text);
  if (changed.length === 0) return null;
  const lines = work.split("\n");
  // From the end, so that earlier line numbers stay valid.
  for (const [old, fresh] of changed.toReversed()) lines.splice(fresh.from, fresh.count, ...old.text.split("\n"));
  return lines.join("\n");
}

interface DocBlock {
  readonly from: number;
  readonly count: number;
  readonly text: string;
}

const blockAt = (lines: readonly string[], from: number, to: number): DocBlock => ({
  from,
  count: to - from,
  text: lines.slice(from, to).join("\n"),
});

function rustBlocks(lines: readonly string[]): DocBlock[] {
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!RUST_FENCE.test(lines[at]!)) continue;
    let end = at + 1;
    while (end < lines.length && RUST_COMMENT.test(lines[end]!) && !RUST_FENCE.test(lines[end]!)) end++;
    blocks.push(blockAt(lines, at, end + 1));
    at = end;
  }
  return blocks;
}

const RUST_COMMENT = /^\s*\/\/[/!]/;
const RUST_FENCE = /^\s*\/\/[/!]\s*```/;

function pythonBlocks(lines: readonly string[]): DocBlock[] {
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!/^\s*>>> /.test(lines[at]!)) continue;
    let end = at + 1;
    while (end < lines.length && lines[end]!.trim() !== "" && !/"""|'''/.test(lines[end]!)) end++;
    blocks.push(blockAt(lines, at, end));
    at = end;
  }
  return blocks;
}

/**
 * Matches blocks of the base with blocks of the work: equal blocks with each other, and those between them in order.
 */
function pairs(before: readonly DocBlock[], now: readonly DocBlock[]): (readonly [DocBlock, DocBlock])[] {
  const found: (readonly [DocBlock, DocBlock])[] = [];
  let [from, at] = [0, 0];
  const pairUp = (toOld: number, toNew: number): void => {
    for (; from < toOld && at < toNew; from++, at++) found.push([before[from]!, now[at]!]);
    [from, at] = [toOld, toNew];
  };
  for (const [old, fresh] of commonBlocks(before, now)) {
    pairUp(old, fresh);
    [from, at] = [old + 1, fresh + 1];
  }
  pairUp(before.length, now.length);
  return found;
}

/** Returns the longest common sequence of equal blocks, by their indexes. */
function commonBlocks(before: readonly DocBlock[], now: readonly DocBlock[]): (readonly [number, number])[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i]![j] =
        before[i]!.text === now[j]!.text
          ? lengths[i + 1]![j + 1]! + 1
          : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const found: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < before.length && j < now.length;) {
    if (before[i]!.text === now[j]!.text) found.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++;
    else j++;
  }
  return found;
}
