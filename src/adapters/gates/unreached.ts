/**
 * Assertions that may never be heard: inside of a `try` whose `catch` goes on as if nothing had happened, or inside of
 * an `if` without an `else`. It reads brackets (in Python, how far lines are set in) and does not parse.
 */
export interface Unheard {
  readonly swallowed: number;
  readonly conditional: number;
}

export function unheard(path: string, body: string, assertions: (code: string) => number): Unheard {
  return path.endsWith(".py") ? inPython(body, assertions) : inBrackets(body, assertions);
}

/** Who asserts, throws or keeps the error to look at it does not swallow it. */
const HEARS = /\b(?:throw|raise|assert\w*|expect|fail\w*|reject|done|panic!|should)\b|(?<![=!<>])=(?![=>])/;

function inBrackets(code: string, assertions: (code: string) => number): Unheard {
  let swallowed = 0;
  let conditional = 0;
  for (const { index } of code.matchAll(/\btry\s{0,5}(?=\{)/g)) {
    const block = blockAt(code, code.indexOf("{", index), "{", "}");
    if (block === null) continue;
    const handler = /^\s{0,40}catch\s{0,5}(?:\([^)\n]{0,80}\))?\s{0,5}(?=\{)/.exec(
      code.slice(block.end + 1, block.end + 200),
    );
    if (handler === null) continue;
    const caught = blockAt(code, block.end + 1 + handler[0].length, "{", "}");
    // An empty one is told by its words alone.
    if (caught === null || caught.text.trim() === "" || HEARS.test(caught.text)) continue;
    if (assertions(block.text) > 0) swallowed++;
  }
  for (const { index } of code.matchAll(/\bif\s{0,5}(?=\()/g)) {
    const head = blockAt(code, code.indexOf("(", index), "(", ")");
    if (head === null) continue;
    const rest = code.slice(head.end + 1);
    const open = /^\s{0,20}\{/.exec(rest);
    const block = open === null ? null : blockAt(code, head.end + open[0].length, "{", "}");
    const text = block?.text ?? /^[^;\n]{0,400}/.exec(rest)![0];
    const after = block === null ? rest.slice(text.length + 1) : code.slice(block.end + 1);
    if (!/^\s{0,80}else\b/.test(after.slice(0, 100))) conditional += assertions(text);
  }
  return { swallowed, conditional };
}

/** What stands between a bracket and the one that closes it. Brackets in texts are few, and mostly in pairs. */
function blockAt(code: string, open: number, left: string, right: string): { text: string; end: number } | null {
  let depth = 0;
  for (let at = open; at < code.length && at < open + LONGEST; at++) {
    if (code[at] === left) depth++;
    else if (code[at] === right && --depth === 0) return { text: code.slice(open + 1, at), end: at };
  }
  return null;
}

const LONGEST = 20_000;

function inPython(code: string, assertions: (code: string) => number): Unheard {
  const lines = code.split("\n");
  let swallowed = 0;
  let conditional = 0;
  lines.forEach((line, at) => {
    const head = /^(\s*)(?:try|if [^\n]{1,300}):\s*(?:#.*)?$/.exec(line);
    if (head === null) return;
    const depth = head[1]!.length;
    const block = below(lines, at, depth);
    const count = assertions(block.text);
    if (count === 0) return;
    const next = lines[block.end] ?? "";
    if (!line.trimStart().startsWith("try")) {
      if (!/^\s*(?:else|elif)\b/.test(next) || depthOf(next) !== depth) conditional += count;
      return;
    }
    if (!/^\s*except\b/.test(next)) return;
    const caught = below(lines, block.end, depth);
    // `pass` alone is told by its words.
    if (/^\s*pass\s*$/.test(caught.text) || HEARS.test(caught.text)) return;
    swallowed++;
  });
  return { swallowed, conditional };
}

function below(lines: readonly string[], at: number, depth: number): { text: string; end: number } {
  let end = at + 1;
  while (end < lines.length && (lines[end]!.trim() === "" || depthOf(lines[end]!) > depth)) end++;
  return { text: lines.slice(at + 1, end).join("\n"), end };
}

const depthOf = (line: string): number => line.length - line.trimStart().length;
