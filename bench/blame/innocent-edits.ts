import type { Chance } from "./random.ts";

export type Files = Map<string, string>;

/** An edit that should break nothing; `false` if there is nothing to edit. It is kept if every test still passes. */
export type InnocentEdit = (files: Files, chance: Chance, serial: number) => boolean;

const isSource = (path: string): boolean => /^(?:src|lib)\/.*\.js$/.test(path);
const isTest = (path: string): boolean => path.endsWith(".test.js");

/** The edits of an iteration besides its slip: a feature with its tests, clean-up, documents, settings. */
export const EDITS: readonly InnocentEdit[] = [
  comment,
  comment,
  newFunction,
  newFunction,
  newFile,
  newTest,
  renamedLocal,
  renamedLocal,
  renamedEverywhere,
  extractedConstant,
  namedResult,
  bracedGuard,
  equivalent,
  equivalent,
  equivalent,
  documents,
  moreData,
  moreParameters,
];

function pickSource(files: Files, chance: Chance): [string, string[]] {
  const path = chance.pick([...files.keys()].filter(isSource));
  return [path, files.get(path)!.split("\n")];
}

/** Changes one line that matches the pattern, if there is one. */
function onLine(
  files: Files,
  chance: Chance,
  pattern: RegExp,
  change: (line: string, match: RegExpExecArray) => string[] | null,
): boolean {
  for (const path of chance.shuffled([...files.keys()].filter(isSource))) {
    const lines = files.get(path)!.split("\n");
    const fitting = lines.flatMap((line, at) => (pattern.test(line) ? [at] : []));
    if (fitting.length === 0) continue;
    const at = chance.pick(fitting);
    const changed = change(lines[at]!, pattern.exec(lines[at]!)!);
    if (changed === null || changed.join("\n") === lines[at]) continue;
    lines.splice(at, 1, ...changed);
    files.set(path, lines.join("\n"));
    return true;
  }
  return false;
}

const indentOf = (line: string): string => /^\s*/.exec(line)![0];

function comment(files: Files, chance: Chance): boolean {
  const texts = [
    "Kept in one place, so that callers need not know.",
    "The order matters here.",
    "See the guide for the reasons.",
    "Called often: keep it cheap.",
    "Empty input is fine.",
  ];
  return onLine(files, chance, /^\s*(?:export |async |const |if \(|for \(|return |\w+\(.*\) \{$)/, (line) => [
    `${indentOf(line)}// ${chance.pick(texts)}`,
    line,
  ]);
}

const FEATURES: readonly (readonly [name: string, code: string, call: string, result: string])[] = [
  [
    "clampTo",
    "(value, low, high) {\n  if (value < low) return low;\n  return value > high ? high : value;\n}",
    "clampTo(12, 0, 10)",
    "10",
  ],
  ["isBlank", "(text) {\n  return text.trim().length === 0;\n}", 'isBlank("  ")', "true"],
  [
    "countBy",
    "(list, keyOf) {\n  const counts = {};\n  for (const item of list) {\n    const key = keyOf(item);\n    counts[key] = (counts[key] ?? 0) + 1;\n  }\n  return counts;\n}",
    "countBy([1, 2, 3], (n) => n % 2).toString()",
    '"[object Object]"',
  ],
  [
    "lastOf",
    "(list, fallback = null) {\n  return list.length > 0 ? list[list.length - 1] : fallback;\n}",
    "lastOf([1, 2])",
    "2",
  ],
  [
    "sumOf",
    "(numbers) {\n  let total = 0;\n  for (const number of numbers) total += number;\n  return total;\n}",
    "sumOf([1, 2, 3])",
    "6",
  ],
  [
    "titleCase",
    '(text) {\n  return text\n    .split(" ")\n    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))\n    .join(" ");\n}',
    'titleCase("a b")',
    '"A B"',
  ],
];

function newFunction(files: Files, chance: Chance, serial: number): boolean {
  const [path] = pickSource(files, chance);
  const [name, code, call, result] = chance.pick(FEATURES);
  const own = `${name}${serial}`;
  files.set(path, `${files.get(path)!}\nexport function ${own}${code}\n`);
  const test = chance.pick([...files.keys()].filter(isTest));
  const text = files.get(test)!;
  const word = /import \{[^}]*\b(test|it)\b/.exec(text)?.[1] ?? "test";
  const head = text.lastIndexOf("\nimport ");
  const end = text.indexOf("\n", head + 1);
  files.set(
    test,
    `${text.slice(0, end)}\nimport { ${own} } from "../${path}";${text.slice(end)}\n${word}("${own} works", () => {\n  assert.equal(${call.replace(name, own)}, ${result});\n});\n`,
  );
  return true;
}

function newFile(files: Files, chance: Chance, serial: number): boolean {
  const [name, code, call, result] = chance.pick(FEATURES);
  const folder = [...files.keys()].find(isSource)!.split("/")[0]!;
  const path = `${folder}/${name.toLowerCase()}-${serial}.js`;
  files.set(path, `/** New with this iteration. */\nexport function ${name}${code}\n`);
  files.set(
    `test/${name.toLowerCase()}-${serial}.test.js`,
    `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ${name} } from "../${path}";\n\ntest("${name} works", () => {\n  assert.equal(${call}, ${result});\n});\n`,
  );
  return true;
}

function newTest(files: Files, chance: Chance, serial: number): boolean {
  const path = chance.pick([...files.keys()].filter(isTest));
  const text = files.get(path)!;
  const word = /import \{[^}]*\b(test|it)\b/.exec(text)?.[1] ?? "test";
  files.set(
    path,
    `${text}\n${word}("still holds together, part ${serial}", () => {\n  assert.equal(typeof ${word}, "function");\n});\n`,
  );
  return true;
}

/** Renames a name that has a single meaning in its file. */
function renamedLocal(files: Files, chance: Chance, serial: number): boolean {
  const [path, lines] = pickSource(files, chance);
  const names = [...new Set(lines.flatMap((line) => /^\s+(?:const|let) ([a-z]\w{2,})\b/.exec(line)?.[1] ?? []))];
  const text = files.get(path)!;
  const free = names.filter(
    (name) => !new RegExp(`[.{,] ?${name}\\b|\\b${name}:|"[^"\\n]*\\b${name}\\b[^"\\n]*"`).test(text),
  );
  if (free.length === 0) return false;
  const name = chance.pick(free);
  files.set(
    path,
    text.replace(new RegExp(`\\b${name}\\b`, "g"), `${name}${chance.pick(["Value", "Now", "Item", "Here"])}${serial}`),
  );
  return true;
}

function renamedEverywhere(files: Files, chance: Chance, serial: number): boolean {
  const [path, lines] = pickSource(files, chance);
  const names = lines.flatMap((line) => /^export (?:async )?function (\w{4,})/.exec(line)?.[1] ?? []);
  if (names.length === 0) return false;
  const name = chance.pick(names);
  const fresh = `${name}${chance.pick(["Of", "For", "With"])}${serial}`;
  for (const [other, text] of files) {
    if (!other.endsWith(".js") || !(other === path || text.includes(path.split("/").at(-1)!))) continue;
    files.set(other, text.replace(new RegExp(`(?<![.\\w"'])${name}\\b(?!["':])`, "g"), fresh));
  }
  return true;
}

function extractedConstant(files: Files, chance: Chance, serial: number): boolean {
  return onLine(files, chance, /^export (?:async )?function /, (line) => [
    `export const VERSION_${serial} = ${serial + 2};`,
    "",
    line,
  ]);
}

function namedResult(files: Files, chance: Chance, serial: number): boolean {
  return onLine(files, chance, /^(\s+)return ([^;{]+[^;{(\s]);$/, (_line, match) => [
    `${match[1]}const outcome${serial} = ${match[2]};`,
    `${match[1]}return outcome${serial};`,
  ]);
}

function bracedGuard(files: Files, chance: Chance): boolean {
  return onLine(
    files,
    chance,
    /^(\s+)if \((.*)\) (return|throw|continue)\b(.*;)$/,
    (_line, [, indent = "", condition = "", word = "", rest = ""]) => [
      `${indent}if (${condition}) {`,
      `${indent}  ${word}${rest}`,
      `${indent}}`,
    ],
  );
}

/** Edits without effect that look like slips. */
function equivalent(files: Files, chance: Chance): boolean {
  const forms: readonly (readonly [RegExp, string])[] = [
    [/(\w+)\+\+(?=[;)])/, "$1 += 1"],
    [/\b(\w+) === undefined\b/, "undefined === $1"],
    [/\b(\w+)\.length === 0\b/, "$1.length < 1"],
    [/ \?\? 0\b/, " ?? 0.0"],
    [/(\w+) > (\w+)(?=\) )/, "$2 < $1"],
    [/\[\.\.\.(\w+)\]\.sort/, "$1.slice().sort"],
    [/"(\w+) " \+ (\w+)\b(?! *[.(])/, "`$1 ${$2}`"],
    [/Math\.max\(0, ([^()]+)\)/, "Math.max($1, 0)"],
    [/\b100\b/, "1e2"],
  ];
  const [pattern, to] = chance.pick(forms);
  return onLine(files, chance, pattern, (line) =>
    /^\s*(?:\/\/|import)/.test(line) ? null : [line.replace(pattern, to)],
  );
}

function documents(files: Files, chance: Chance, serial: number): boolean {
  files.set(
    "README.md",
    `${files.get("README.md")!}\n## Part ${serial}\n\n${chance.pick(["How it is used.", "What has changed.", "Open questions."])}\n`,
  );
  const data = files.get("package.json")!;
  files.set(
    "package.json",
    data.replace(/"version": "(\d+)\.(\d+)\.(\d+)"/, (_, a, b, c) => `"version": "${a}.${b}.${Number(c) + 1}"`),
  );
  return true;
}

function moreData(files: Files, chance: Chance, serial: number): boolean {
  const paths = [...files.keys()].filter((path) => path.endsWith(".json") && path.includes("/"));
  if (paths.length === 0) return false;
  const path = chance.pick(paths);
  files.set(path, files.get(path)!.replace(/^\{\n/, `{\n  "extra${serial}": ${chance.below(50)},\n`));
  return true;
}

function moreParameters(files: Files, chance: Chance, serial: number): boolean {
  return onLine(files, chance, /^export (?:async )?function \w+\(\w[^()]*\) \{$/, (line) => [
    line.replace(/\) \{$/, `, options${serial} = {}) {`),
    `  void options${serial};`,
  ]);
}
