import type { Chance } from "./random.ts";

/** One breaking edit: replaces a line of a file; `null` deletes the line. */
export interface Slip {
  readonly kind: string;
  readonly file: string;
  /** The line, counted from 0. */
  readonly at: number;
  readonly lines: readonly string[];
}

type Maker = readonly [kind: string, make: (line: string, chance: Chance) => readonly string[] | null];

/** Mistakes that a developer can make in a line. */
const MAKERS: readonly Maker[] = [
  [
    "comparison",
    (line) =>
      swapped(line, [
        [" < ", " <= "],
        [" <= ", " < "],
        [" > ", " >= "],
        [" >= ", " > "],
        [" === ", " !== "],
        [" !== ", " === "],
      ]),
  ],
  [
    "off by one",
    (line) =>
      swapped(line, [
        [" + 1", " + 2"],
        [" - 1", ""],
        ["at++", "at += 2"],
        ["(0, ", "(1, "],
        [" + 1)", ")"],
      ]),
  ],
  ["removed await", (line) => (/\bawait (?!new)/.test(line) ? [line.replace(/\bawait /, "")] : null)],
  [
    "early return",
    (line, chance) =>
      /^ {2,4}(?:const|let|for) /.test(line) && chance.share() < 0.3
        ? [`${indentOf(line)}if (arguments.length > 0) return undefined;`, line]
        : null,
  ],
  ["wrong constant", (line) => changedNumber(line)],
  ["swapped arguments", (line) => swappedArguments(line)],
  ["removed guard", (line) => (/^\s*if \(.*\) (?:return|throw|continue)\b.*;$/.test(line) ? [] : null)],
  [
    "default",
    (line) =>
      /\((?:.*), \w+ = [\w"'.]+\)/.test(line) || /\(\w+ = \w+\)/.test(line)
        ? [
            line
              .replace(/ = (\d+)(?=[,)])/, (_, n: string) => ` = ${Number(n) + 1}`)
              .replace(/ = "(\w+)"(?=[,)])/, ' = "other"'),
          ]
        : null,
  ],
  [
    "wrong operator",
    (line) =>
      swapped(line, [
        [" && ", " || "],
        [" || ", " && "],
        [" + ", " - "],
        [" * ", " / "],
        [" % ", " / "],
        ["!", ""],
      ]),
  ],
  [
    "wrong method",
    (line) =>
      swapped(line, [
        ["Math.min", "Math.max"],
        ["Math.max", "Math.min"],
        ["Math.ceil", "Math.floor"],
        ["Math.floor", "Math.ceil"],
        ["Math.round", "Math.floor"],
        [".find(", ".findLast("],
        [".some(", ".every("],
        [".padStart", ".padEnd"],
      ]),
  ],
  [
    "wrong text",
    (line) => (/^(?!.*import).*"[a-z][a-z -]+"/.test(line) ? [line.replace(/"([a-z][a-z -]+)"/, '"$1s"')] : null),
  ],
  [
    "wrong variable",
    (line) =>
      swapped(line, [
        ["left", "right"],
        ["from", "to"],
        ["before", "after"],
        ["first", "last"],
        [".least", ".most"],
      ]),
  ],
];

/** All possible slips in a file, by kind. */
export function slipsIn(file: string, text: string, chance: Chance): Slip[] {
  const lines = text.split("\n");
  if (file.endsWith(".json")) {
    if (file.endsWith("package.json")) return [];
    return lines.flatMap((line, at) => {
      const changed = /:.*\d/.test(line)
        ? line.replace(/(:\s*\{?[^\d]*)(\d+)/, (_, head: string, n: string) => `${head}${Number(n) + 1}`)
        : line.replace(/, "\w+"\]/, "]");
      return changed === line ? [] : [{ kind: "data table", file, at, lines: [changed] }];
    });
  }
  return lines.flatMap((line, at) => {
    if (/^\s*(?:\/\/|\*|\/\*|import\b|export class|$)/.test(line)) return [];
    return MAKERS.flatMap(([kind, make]) => {
      const made = make(line, chance);
      return made === null || (made.length === 1 && made[0] === line) ? [] : [{ kind, file, at, lines: made }];
    });
  });
}

export function withSlip(text: string, slip: Slip): string {
  const lines = text.split("\n");
  lines.splice(slip.at, 1, ...slip.lines);
  return lines.join("\n");
}

function swapped(line: string, pairs: readonly (readonly [from: string, to: string])[]): readonly string[] | null {
  const pair = pairs.find(
    ([from]) =>
      line.includes(from) && !(from === "!" && !/!\w/.test(line)) && !(from === " < " && line.includes("=> ")),
  );
  if (pair === undefined) return null;
  return [pair[0] === "!" ? line.replace(/!(?=\w)/, "") : line.replace(pair[0], pair[1])];
}

function changedNumber(line: string): readonly string[] | null {
  const found = /(?<![\w.$[])(\d+)(?![\w.\]])/.exec(line);
  if (found === null) return null;
  const number = Number(found[1]);
  return [
    line.slice(0, found.index) +
      String(number < 10 ? number + 1 : number * 2) +
      line.slice(found.index + found[1]!.length),
  ];
}

function swappedArguments(line: string): readonly string[] | null {
  const found = /(?<!function )\b([a-z]\w*)\(([\w.]+), ([\w.]+)(?=[,)])/i.exec(line);
  if (found === null || /^\s*(?:async )?\w+\([^)]*\) \{$/.test(line) || line.includes("function ")) return null;
  return [line.replace(`${found[2]}, ${found[3]}`, `${found[3]}, ${found[2]}`)];
}

const indentOf = (line: string): string => /^\s*/.exec(line)![0];
