import { looksLikeTest } from "../../../src/core/blame/change.ts";
import type { Chance } from "../random.ts";
import { bodiesIn, headEnd, indentOf, pageOf, type Language, type Page } from "./language.ts";

/** An edit of one file that should break nothing; `null` if there is nothing to edit. */
type Innocent = (page: Page, chance: Chance, serial: number) => readonly string[] | null;

/** Replaces one line. */
function at(page: Page, line: number, made: readonly string[]): readonly string[] {
  return [...page.lines.slice(0, line), ...made, ...page.lines.slice(line + 1)];
}

function onLine(
  page: Page,
  chance: Chance,
  pattern: RegExp,
  change: (line: string, match: RegExpExecArray) => readonly string[] | null,
): readonly string[] | null {
  const fitting = page.code.flatMap((line, place) => (pattern.test(line) && line.length < 160 ? [place] : []));
  if (fitting.length === 0) return null;
  const place = chance.pick(fitting);
  // If the line differs from its code alone, it contains a string, and is left unchanged.
  if (page.code[place] !== page.lines[place]) return null;
  const made = change(page.lines[place]!, pattern.exec(page.lines[place]!)!);
  return made === null || made.join("\n") === page.lines[place] ? null : at(page, place, made);
}

const REMARKS = [
  "The order matters here.",
  "Kept apart, so that callers need not know.",
  "Called often.",
  "Empty input is fine.",
];
const STATEMENT = /^\s*(?:export |async |const |let |if \(|for |return |def |class |self\.\w+ =|\w+ = )/;
const mark = (language: Language): string => (language === "py" ? "#" : "//");

const EDITS: readonly (readonly [weight: number, edit: Innocent])[] = [
  [
    4,
    (page, chance) =>
      onLine(page, chance, STATEMENT, (line) => [
        `${indentOf(line)}${mark(page.language)} ${chance.pick(REMARKS)}`,
        line,
      ]),
  ],
  [3, (page, chance, serial) => [...page.lines, ...newFunction(page, chance, serial)]],
  [2, namedResult],
  [2, parenthesised],
  [4, equivalent],
  [2, renamedLocal],
  [1, newConstant],
  [1, newParameter],
  [2, newTest],
];

const WHEEL = EDITS.flatMap(([weight, edit]) => Array.from({ length: weight }, () => edit));

function newFunction({ language, lines }: Page, chance: Chance, serial: number): readonly string[] {
  const name = chance.pick(["clampTo", "isBlank", "lastOf", "sumOf", "countOf"]);
  if (language === "py")
    return [
      "",
      `def ${name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)}_${serial}(value, fallback=None):`,
      "    if value is None:",
      "        return fallback",
      "    return value",
      "",
    ];
  const isModule = lines.some((line) => /^export\b/.test(line));
  const typed = language === "ts" ? "(value: number, low: number, high: number): number" : "(value, low, high)";
  return [
    `${isModule ? "export " : ""}function ${name}${serial}${typed} {`,
    "  if (value < low) return low;",
    "  return value > high ? high : value;",
    "}",
    "",
  ];
}

function namedResult(page: Page, chance: Chance, serial: number): readonly string[] | null {
  if (page.language === "py")
    return onLine(
      page,
      chance,
      /^(\s+)return ([\w.]+\([^()]*\)|[\w.]+ [-+*] [\w.]+)$/,
      (_, [, indent = "", value = ""]) => [
        `${indent}outcome_${serial} = ${value}`,
        `${indent}return outcome_${serial}`,
      ],
    );
  return onLine(page, chance, /^(\s+)return ([^;{}]+[^;{}(\s]);$/, (_, [, indent = "", value = ""]) =>
    /\bawait\b/.test(value)
      ? null
      : [`${indent}const outcome${serial} = ${value};`, `${indent}return outcome${serial};`],
  );
}

function parenthesised(page: Page, chance: Chance): readonly string[] | null {
  if (page.language === "py")
    return onLine(
      page,
      chance,
      /^(\s+)(return|if) ([\w.]+ (?:[-+*<>]|==|!=) [\w.]+)(:?)$/,
      (_, [, indent, word, value, end]) => [`${indent}${word} (${value})${end}`],
    );
  return onLine(
    page,
    chance,
    /^(\s+)if \((.*)\) (return|throw|continue)\b(.*;)$/,
    (_, [, indent = "", condition, word, rest]) => [
      `${indent}if (${condition}) {`,
      `${indent}  ${word}${rest}`,
      `${indent}}`,
    ],
  );
}

/** Edits without effect that look like slips. */
const SAME: Readonly<Record<"py" | "js", readonly (readonly [RegExp, string])[]>> = {
  js: [
    [/(?<![.\w])(\w+)\+\+(?=[;)])/, "$1 += 1"],
    [/(?<![.\w])(\w+) === undefined\b/, "undefined === $1"],
    [/(?<![.\w])(\w+)\.length === 0\b/, "$1.length < 1"],
    [/(?<![.\w])(\w+)\.length > 0\b/, "$1.length >= 1"],
    [/\((\w+) > (\w+)\)/, "($2 < $1)"],
    [/\((\w+) < (\w+)\)/, "($2 > $1)"],
    [/(?<=[(\s])(\w+) === (\d+)(?=[);\s])/, "$2 === $1"],
    [/\b100\b/, "1e2"],
  ],
  py: [
    [/(?<![.\w])(\w+) \+= 1$/, "$1 = $1 + 1"],
    [/\blen\((\w+)\) == 0\b/, "len($1) < 1"],
    [/\bif (\w+) > (\w+):/, "if $2 < $1:"],
    [/\bif (\w+) < (\w+):/, "if $2 > $1:"],
    [/(?<=(?:if|and|or|return|while) )(\w+) == (\d+)(?=:|$)/, "$2 == $1"],
    [/\bif not (\w+):/, "if not (bool($1)):"],
    [/\b100\b/, "(50 * 2)"],
  ],
};

function equivalent(page: Page, chance: Chance): readonly string[] | null {
  for (const [pattern, to] of chance.shuffled(SAME[page.language === "py" ? "py" : "js"])) {
    const made = onLine(page, chance, pattern, (line) => [line.replace(pattern, to)]);
    if (made !== null) return made;
  }
  return null;
}

/** Renames a name that has a single meaning in its file. */
function renamedLocal(page: Page, chance: Chance, serial: number): readonly string[] | null {
  const pattern = page.language === "py" ? /^\s{4,}([a-z][a-z_]{3,}) = / : /^\s+(?:const|let) ([a-z]\w{2,}) =/;
  const text = page.lines.join("\n");
  const names = [...new Set(page.code.flatMap((line) => pattern.exec(line)?.[1] ?? []))].filter(
    (name) =>
      !new RegExp(
        `[.{,(] ?${name}\\b|\\b${name}\\s?[:=](?!= )(?<!(?:const|let) ${name} =)(?<!^ +${name} =)|["'\`][^"'\`\\n]*\\b${name}\\b`,
        "m",
      ).test(text),
  );
  if (names.length === 0) return null;
  const name = chance.pick(names);
  const fresh = page.language === "py" ? `${name}_${serial}` : `${name}Now${serial}`;
  return text.replace(new RegExp(`\\b${name}\\b`, "g"), fresh).split("\n");
}

function newConstant(page: Page, _chance: Chance, serial: number): readonly string[] | null {
  const end = headEnd(page);
  if (end < 0) return null;
  const line = page.language === "py" ? `LIMIT_${serial} = ${serial + 2}` : `const LIMIT_${serial} = ${serial + 2};`;
  const use = page.language === "py" ? [] : [`void LIMIT_${serial};`];
  return at(page, end, [page.lines[end]!, line, ...use]);
}

function newParameter(page: Page, chance: Chance, serial: number): readonly string[] | null {
  if (page.language === "py")
    return onLine(page, chance, /^(\s*def \w+\(\w[\w, =]*)\):$/, (_, [, head]) => [`${head}, option_${serial}=None):`]);
  const typed = page.language === "ts" ? `options${serial}: object = {}` : `options${serial} = {}`;
  return onLine(page, chance, /^((?:export )?(?:async )?function \w+\(\w[^()]*)\)(.*\{)$/, (line, [, head, rest]) => [
    `${head}, ${typed})${rest}`,
    `${indentOf(line)}  void options${serial};`,
  ]);
}

function newTest(page: Page, _chance: Chance, serial: number): readonly string[] | null {
  if (!looksLikeTest(page.path)) return null;
  if (page.language === "py")
    return page.lines.some((line) => line.startsWith("def test_"))
      ? [...page.lines, "", `def test_still_holds_${serial}():`, "    assert True", ""]
      : null;
  const word = /^\s*(test|it)\(/m.exec(page.lines.join("\n"))?.[1];
  return word === undefined ? null : [...page.lines, `${word}("still holds together, part ${serial}", () => {});`, ""];
}

/**
 * Applies this many innocent edits, each to the result of those before. Only a run can show which of them really break
 * nothing.
 */
export function compose(
  texts: ReadonlyMap<string, string>,
  files: readonly string[],
  count: number,
  chance: Chance,
): Map<string, string>[] {
  const steps: Map<string, string>[] = [];
  let now = new Map(texts);
  const code = files.filter((file) => bodiesIn(pageOf(file, texts.get(file)!)).length > 0 || looksLikeTest(file));
  for (let serial = 1; serial <= count * 4 && steps.length < count && code.length > 0; serial++) {
    const file = chance.pick(code);
    const made = chance.pick(WHEEL)(pageOf(file, now.get(file)!), chance, serial);
    if (made === null) continue;
    now = new Map(now).set(file, made.join("\n"));
    steps.push(now);
  }
  return steps;
}
