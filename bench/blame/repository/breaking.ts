import type { Chance } from "../random.ts";
import { bodiesIn, indentOf, type Page } from "./language.ts";

/** One breaking edit: replaces `count` lines of a file. */
export interface Break {
  readonly kind: string;
  readonly file: string;
  /** The first line, counted from 0. */
  readonly at: number;
  readonly count: number;
  readonly lines: readonly string[];
}

type Swap = readonly [from: RegExp, to: string | ((all: string, ...parts: string[]) => string)];

const RELATIONS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "==": "!=",
  "!=": "==",
  "===": "!==",
  "!==": "===",
};

/** Swaps in code only: text in strings and comments is not changed. */
const SWAPS: Readonly<Record<string, readonly Swap[]>> = {
  comparison: [
    [/(?<=\w\)?\]? )(===|!==|==|!=|<=|>=|<|>)(?= [\w("'-])/, (sign) => RELATIONS[sign] ?? sign],
    [/\bis not None\b/, "is None"],
    [/\bis None\b/, "is not None"],
    [/(?<=\w )not in\b/, "in"],
  ],
  "off by one": [
    [/\+ 1\b(?!\.)/, "+ 2"],
    [/- 1\b(?!\.)/, "- 2"],
    [/\[0\]/, "[1]"],
    [/\brange\((\w+)\)/, (_, n) => `range(${n} - 1)`],
    [/\.length\b(?=[;) ])/, ".length - 1"],
    [/\blen\(([\w.]+)\)/, (all) => `${all} - 1`],
    [/\.slice\(1/, ".slice(2"],
    [/\[1:\]/, "[2:]"],
    [/\[:-1\]/, "[:-2]"],
    [/\(0, /, "(1, "],
  ],
  "removed await": [[/\bawait (?!new\b)/, ""]],
  "wrong operator": [
    [/ && /, " || "],
    [/ \|\| /, " && "],
    [/(?<=\S )and(?= \S)/, "or"],
    [/(?<=\S )or(?= \S)/, "and"],
    [/(?<=\w\)?\]? )\+(?= [\w(])/, "-"],
    [/(?<=\w\)?\]? )\*(?= [\w(])/, "+"],
    [/(?<=\w\)?\]? )%(?= [\w(])/, "*"],
    [/(?<=\w\)?\]? )-(?= [\w(])/, "+"],
  ],
  "wrong method": (
    [
      ["Math.min", "Math.max"],
      ["Math.ceil", "Math.floor"],
      ["Math.round", "Math.ceil"],
      [".some(", ".every("],
      [".startsWith(", ".endsWith("],
      [".startswith(", ".endswith("],
      [".toLowerCase(", ".toUpperCase("],
      [".lower(", ".upper("],
      [".shift(", ".pop("],
      [".push(", ".unshift("],
      [".padStart(", ".padEnd("],
      [".lstrip(", ".rstrip("],
      [".find(", ".filter("],
      [".indexOf(", ".lastIndexOf("],
      [" min(", " max("],
      [" any(", " all("],
    ] as const
  ).flatMap(([a, b]): Swap[] => [
    [literal(a), b],
    [literal(b), a],
  ]),
  "wrong variable": (
    [
      ["left", "right"],
      ["start", "end"],
      ["before", "after"],
      ["first", "last"],
      ["old", "new"],
      ["width", "height"],
      ["keys", "values"],
      ["min", "max"],
    ] as const
  ).flatMap(([a, b]): Swap[] => [[new RegExp(`(?<=[\\s(.])${a}(?=[\\s),.;\\]])`), b]]),
  "wrong flag": [
    [/\btrue\b/, "false"],
    [/\bfalse\b/, "true"],
    [/\bTrue\b/, "False"],
    [/\bFalse\b/, "True"],
  ],
  "wrong constant": [
    [/(?<![\w.$[])(\d+)(?![\w.\]])/, (n) => (Number(n) < 10 ? String(Number(n) + 1) : String(Number(n) * 2))],
  ],
  "swapped arguments": [
    [/(?<!def |function |new )(\b[a-zA-Z_]\w*\()([\w.]+), ([\w.]+)(?=[,)])/, (_, head, a, b) => `${head}${b}, ${a}`],
  ],
};

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}

const NO_CODE =
  /^\s*(?:import\b|from\b.*\bimport\b|export \*|export \{|@|\/\/|#|\*|\/\*|(?:export )?(?:type|interface|declare)\b|$)/;
const DEFAULTED = /(?:\bdef |\bfunction\b|=> \{?$|^\s+(?:async |static )*\w+\(.*\{\s*$)/;

/** All possible breaking edits of a file. */
export function breaksIn(page: Page, chance: Chance): Break[] {
  const { path, language, lines, code } = page;
  if (language === "data") return dataBreaks(page);
  const found: Break[] = [];
  const put = (kind: string, at: number, made: string | readonly string[], count = 1): void => {
    const fresh = typeof made === "string" ? [made] : made;
    if (fresh.join("\n") !== lines.slice(at, at + count).join("\n"))
      found.push({ kind, file: path, at, count, lines: fresh });
  };
  for (const [at, line] of lines.entries()) {
    const plain = code[at] ?? "";
    if (NO_CODE.test(plain) || plain.trim().length < 4 || line.length > 300) continue;
    for (const [kind, swaps] of Object.entries(SWAPS)) {
      if (kind === "swapped arguments" && DEFAULTED.test(plain)) continue;
      const fitting = swaps.filter(([from]) => from.test(plain));
      if (fitting.length > 0) put(kind, at, swapped(line, plain, chance.pick(fitting)));
    }
    if (DEFAULTED.test(plain) || / \?\? |\.get\(\w|\|\| ["'\d]/.test(plain)) put("default", at, otherDefault(line));
    const text = /(?<![\w])(["'])([a-z][a-z _-]{2,})\1(?!\s*:)/.exec(line);
    if (text !== null && !/\brequire\(|\bimport\b/.test(line))
      put("wrong text", at, line.replace(text[0], `${text[1]}${text[2]}s${text[1]}`));
    const negated = negatedIf(line, plain);
    if (negated !== null) put("negated condition", at, negated);
    const guard = guardAt(page, at);
    if (guard > 0) put("removed guard", at, [], guard);
    if (
      /^\s+[\w.[\]]+(?:\([^()]*\)| [+-]?= [^{[(]+[^{[(,]);?$/.test(plain) &&
      !/^\s*(?:return|break|continue|pass|else|yield|raise|throw)\b/.test(plain)
    )
      put("removed line", at, language === "py" ? `${indentOf(line)}pass` : []);
  }
  for (const { after, indent } of bodiesIn(page))
    put("early return", after, [
      lines[after]!,
      `${indent}${language === "py" ? "return None" : language === "ts" ? "return undefined as never;" : "return undefined;"}`,
    ]);
  return found;
}

/** Replaces the match in the full line at the position where it is in the code alone. */
function swapped(line: string, code: string, [from, to]: Swap): string {
  const match = from.exec(code)!;
  const parts = match.slice(1).map((part) => part ?? "");
  const made = typeof to === "string" ? to : to(match[0], ...parts);
  return line.slice(0, match.index) + made + line.slice(match.index + match[0].length);
}

function otherDefault(line: string): string {
  const forms: readonly (readonly [RegExp, (value: string) => string])[] = [
    [/(?<=\w ?(?:: ?[\w |]+)?= ?|\?\? |\|\| |\.get\([^(),]+, )(\d+)(?=[,);])/, (n) => String(Number(n) + 1)],
    [/(?<=\w ?(?:: ?[\w |]+)?= ?|\?\? |\|\| |\.get\([^(),]+, )(true|false|True|False)(?=[,);])/, flipped],
    [
      /(?<=\w ?(?:: ?[\w |]+)?= ?|\?\? |\|\| |\.get\([^(),]+, )("[^"]*"|'[^']*')(?=[,);])/,
      (text) => `${text[0]}other${text[0]}`,
    ],
  ];
  for (const [pattern, other] of forms) if (pattern.test(line)) return line.replace(pattern, (value) => other(value));
  return line;
}

function flipped(value: string): string {
  const small = value.toLowerCase() === "true" ? "false" : "true";
  return /^[A-Z]/.test(value) ? small[0]!.toUpperCase() + small.slice(1) : small;
}

function negatedIf(line: string, code: string): string | null {
  const python = /^(\s*(?:el)?if )(.+):\s*$/.exec(code);
  if (python !== null && !code.includes("{")) return line.replace(/^(\s*(?:el)?if )(.+):\s*$/, "$1not ($2):");
  const braces = /^(\s*(?:\} else )?if \()([^()]*(?:\([^()]*\)[^()]*)*)(\) \{)\s*$/.exec(code);
  if (braces === null) return null;
  const [head, condition] = [braces[1]!.length, braces[2]!.length];
  return `${line.slice(0, head)}!(${line.slice(head, head + condition)})${line.slice(head + condition)}`;
}

const LEAVES = /^\s*(?:return|throw|raise|continue|break)\b/;

/** How many lines a guard takes that starts here: a condition whose body only leaves the function. */
function guardAt({ language, lines, code }: Page, at: number): number {
  const [line, next, after] = [code[at]!, code[at + 1] ?? "", code[at + 2] ?? ""];
  const deeper = indentOf(lines[at + 1] ?? "").length > indentOf(lines[at]!).length;
  if (language === "py") {
    const isAlone = indentOf(lines[at + 2] ?? "").length <= indentOf(lines[at]!).length;
    return /^\s*if .+:\s*$/.test(line) &&
      deeper &&
      LEAVES.test(next) &&
      isAlone &&
      !/^\s*(?:else|elif)\b/.test(after) &&
      !/[([{]\s*$/.test(next)
      ? 2
      : 0;
  }
  if (/^\s*if \(.*\) (?:return|throw|continue|break)\b.*;\s*$/.test(line)) return 1;
  return /^\s*if .*\{\s*$/.test(line) && LEAVES.test(next) && /^\s*\}\s*$/.test(after) ? 3 : 0;
}

function dataBreaks({ path, lines }: Page): Break[] {
  return lines.flatMap((line, at) => {
    if (/version|^\s*#/i.test(line)) return [];
    const changed = line.replace(
      /((?:[:,=[]|^)\s*["']?)(\d+)(?![\w.])/,
      (_, head: string, n: string) => `${head}${Number(n) + 1}`,
    );
    return changed === line ? [] : [{ kind: "data table", file: path, at, count: 1, lines: [changed] }];
  });
}

export function breakFile(text: string, breaks: readonly Break[]): string {
  const lines = text.split("\n");
  // From the end to the beginning, so that positions stay valid.
  for (const each of [...breaks].sort((a, b) => b.at - a.at)) lines.splice(each.at, each.count, ...each.lines);
  return lines.join("\n");
}
