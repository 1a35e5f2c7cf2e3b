/** One program that a line of shell starts, if that can be read without running it. */
export interface StartedProgram {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether the shell changed its folder before: relative paths then start elsewhere. */
  readonly isMoved: boolean;
}

/**
 * Returns the programs that a line of shell certainly starts. Anything that depends on variables, substitutions or
 * shell syntax is left out, so that nothing is reported that is not understood. A command after `||` may never run.
 */
export function startedPrograms(line: string): readonly StartedProgram[] {
  const found: StartedProgram[] = [];
  let isMoved = false;
  for (const { words, isCertain } of simpleCommands(line)) {
    const [program, ...args] = withoutPrefixes(words);
    if (program === undefined || !PLAIN.test(program)) continue;
    if (SYNTAX.has(program)) break;
    if (isCertain) found.push({ program, args, isMoved });
    if (program === "cd" || program === "pushd") isMoved = true;
  }
  return found;
}

/** A word with a dash is an option of `env` or `time`, and which words belong to it is unknown. */
const PLAIN = /^(?!-)[\w@%+:,./-]+$/;
const SYNTAX = new Set(["if", "for", "while", "until", "case", "function", "{", "}", "[[", "select", "do", "then"]);
const PREFIXES = new Set(["!", "time", "exec", "nohup", "command", "env"]);

function withoutPrefixes(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !PREFIXES.has(word) && !/^\w+=/.test(word));
  return start === -1 ? [] : words.slice(start);
}

/** Returns the words between operators. Stops at anything that plain words do not explain. */
function simpleCommands(line: string): { words: string[]; isCertain: boolean }[] {
  const commands: { words: string[]; isCertain: boolean }[] = [];
  let words: string[] = [];
  let isCertain = true;
  for (const [token] of line.matchAll(TOKEN)) {
    if (/^[(){}`]|^<</.test(token)) return commands;
    if (!/^(?:&&?|\|\|?|;|\n)$/.test(token)) {
      if (token.trim() !== "" && !/^\d*[<>]/.test(token)) words.push(unquote(token));
      continue;
    }
    commands.push({ words, isCertain });
    words = [];
    isCertain = token !== "||" && (isCertain || token === ";" || token === "\n");
  }
  return [...commands, { words, isCertain }];
}

const TOKEN =
  /&&|\|\||<<|\d*>{1,2}&?\s*\S+|\d*<\s*\S+|[;|&\n(){}`]|[ \t\r]+|(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\;|&(){}`<>])+|./gs;

const unquote = (word: string): string => word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, "$1$2$3");

/** Returns the script of package.json that a package manager runs; `null` if it runs none, or in another folder. */
export function scriptOf({ program, args, isMoved }: StartedProgram): string | null {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program) || isMoved) return null;
  const [first = "", second = ""] = args;
  if (/^(?:run|run-script|rum|urn)$/.test(first))
    return /^[\w@:./-]+$/.test(second) && !second.startsWith("-") ? second : null;
  // `bun test` starts bun's own runner.
  return /^(?:test|t|tst)$/.test(first) && program !== "bun" ? "test" : null;
}
