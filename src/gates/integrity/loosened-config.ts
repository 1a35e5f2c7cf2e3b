import type { Finding } from "../../core/gates/finding.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { FileChange, FilePair } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/** The files in which thresholds, and how strictly compilers and linters look, are written. */
const CONFIGS = [
  "**/{vite,vitest,jest,karma,stryker,stryker.conf,ava}.config.*",
  "**/stryker.conf.*",
  "**/package.json",
  "**/{.nycrc,.c8rc,.taprc,.mocharc,.coveragerc}*",
  "**/{pytest.ini,tox.ini,setup.cfg,pyproject.toml,mypy.ini,ruff.toml,.ruff.toml,.flake8,.pylintrc}",
  "**/{codecov,.codecov}.y*ml",
  "**/tsconfig*.json",
  "**/{.eslintrc,.oxlintrc,oxlintrc}*",
  "**/eslint.config.*",
  "**/oxlint.config.*",
  "**/{biome.json,biome.jsonc,deno.json}",
  "**/.{eslint,oxlint,stylelint,pylint}ignore",
  "**/{.golangci.y*ml,Cargo.toml,clippy.toml}",
  "**/{Makefile,makefile,justfile,Taskfile.yml,noxfile.py}",
  ".github/workflows/*",
  "**/.gitlab-ci.yml",
];

export const isLooseningConfig = (path: string): boolean => matchesAnyGlob(path, CONFIGS);

/** Thresholds that fell, and compilers and linters that look at less. */
export function loosenedConfig(files: readonly FilePair[], book: RuleReporter): Finding[] {
  return files.flatMap((file) => [...thresholds(file, book), ...strictness(file, book)]);
}

const NUMBERS =
  /\b(lines|branches|functions|statements|perFile|fail_under|fail-under|cov-fail-under|minimum_coverage|target|break|threshold|max-warnings)["']?\s{0,5}[:=\s]\s{0,5}["']?(-?\d+(?:\.\d+)?)/g;

function thresholds({ path, before, after }: FilePair, book: RuleReporter): Finding[] {
  if (before === null) return [];
  const is = numbersIn(after ?? "");
  return [...numbersIn(before)].flatMap(([key, numbers]) => {
    const now = is.get(key) ?? [];
    const isLower = numbers.some((number, at) => {
      const value = now[at];
      if (key === "max-warnings") return value === undefined || value > number;
      return number > 0 && (value === undefined || value < number);
    });
    if (!isLower) return [];
    return book.report("threshold-lowered", {
      file: path,
      message:
        now.length === 0
          ? `the threshold \`${key}\` was taken out`
          : `the threshold \`${key}\` asks for less than before`,
      suggestedFix: "Restore it, and do the work that it asks for.",
      detail: `${numbers.join(", ")} before, ${now.join(", ") || "none"} now`,
    });
  });
}

function numbersIn(text: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [, key, number] of text.slice(0, LONGEST_READ).matchAll(NUMBERS))
    found.set(key!, [...(found.get(key!) ?? []), Number(number)]);
  return found;
}

const LONGEST_READ = 500_000;

const SWITCHES =
  /["']?\b((?:strict|noImplicit|noUnchecked|noUnused|noFallthrough|noPropertyAccess|exactOptional|disallow_|warn_|check_untyped|checkJs|check-coverage|checkCoverage|forbid_?[oO]nly|forbid-only|use_?[uU]nknown)[\w-]{0,40})["']?\s{0,5}[:=]\s{0,5}(true|True|false|False)\b/g;

/** Those that make a compiler or linter look away when they are on. */
const BLINDERS = /\b(ignore_errors|noCheck|skip_file)["']?\s{0,5}[:=]\s{0,5}(?:true|True)\b/g;

const LEVELS =
  /["']?([@\w][\w./@-]{1,80})["']?\s{0,5}:\s{0,5}\[?\s{0,5}["']?(off|allow|warn|warning|error|deny|0|1|2)["']?\s{0,5}[,}\]\n]/g;
const LEVEL: Readonly<Record<string, number>> = {
  off: 0,
  allow: 0,
  0: 0,
  warn: 1,
  warning: 1,
  1: 1,
  error: 2,
  deny: 2,
  2: 2,
};

function strictness({ path, before, after }: FilePair, book: RuleReporter): Finding[] {
  // A project that only now gets a config cannot have been stricter before.
  if (before === null && !IGNORE_FILE.test(path)) return [];
  const [was, is] = [before ?? "", after ?? ""].map((text) => text.slice(0, LONGEST_READ)) as [string, string];
  const isOn = (text: string): Set<string> =>
    new Set([...text.matchAll(SWITCHES)].flatMap(([, name, value]) => (/^t/i.test(value!) ? [name!] : [])));
  const on = isOn(is);
  const off = [...isOn(was)].filter((name) => !on.has(name));
  const blind = (text: string): Set<string> => new Set([...text.matchAll(BLINDERS)].map(([, name]) => name!));
  const wasBlind = blind(was);
  const blinded = [...blind(is)].filter((name) => !wasBlind.has(name));
  const lowered = /lint|biome/.test(path) ? loweredLevels(was, is) : [];
  const narrowed = after !== null && REACHES.test(path) ? narrowedReach(path, was, is) : [];
  const told = [...off, ...blinded, ...lowered, ...narrowed];
  if (told.length === 0) return [];
  return book.report("strictness-lowered", {
    file: path,
    message: `this looks at less than before: ${told
      .slice(0, 8)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
    suggestedFix: "Restore it, and fix what it reports.",
  });
}

const EXTENDS = /\bextends\b[^\n]{0,300}|\.\.\.\w[^\n]{0,100}|["']?(?:plugins|categories)["']?\s?:[^\n]{0,200}/g;
const REACHES =
  /lint|biome|ruff|mypy|flake8|coveragerc|nycrc|c8rc|(?:^|\/)(?:tsconfig[^/]*\.json|pyproject\.toml|setup\.cfg|tox\.ini)$/;

function loweredLevels(was: string, is: string): string[] {
  const levels = (text: string): Map<string, number> =>
    new Map([...text.matchAll(LEVELS)].map(([, name, level]) => [name!, LEVEL[level!] ?? 2]));
  const before = levels(was);
  const now = levels(is);
  const lowered = [...now].flatMap(([name, level]) =>
    level < (before.get(name) ?? (level === 0 ? 1 : 0)) ? [name] : [],
  );
  // A set of rules that is taken over now may hold those that were named before; a config that is gone is elsewhere.
  const isTakenOver = is.trim() === "" || [...is.matchAll(EXTENDS)].some(([text]) => !was.includes(text));
  const gone = isTakenOver ? [] : [...before].flatMap(([name, level]) => (level > 0 && !now.has(name) ? [name] : []));
  return [...lowered, ...gone];
}

const SILENCERS =
  /(?:\/\/|\/\*|#|<!--|\{\/\*)\s{0,5}(?:eslint-disable(?:-next-line|-line)?|oxlint-disable(?:-next-line|-line)?|biome-ignore|@ts-ignore|@ts-nocheck|@ts-expect-error|(?:istanbul|c8|v8) ignore|type: ?ignore|noqa|pylint: ?disable|mypy: ?ignore-errors|ruff: ?noqa|nosec|pragma: no (?:cover|mutate)|nolint|Stryker disable)\b|^\s{0,40}#!?\[allow\(|\/\/nolint\b/i;

/** A reason stands after the names of the rules: behind dashes, a colon or another mark of a comment, or in words. */
const REASON =
  / -- \S|(?:ignore|nocheck|expect-error|noqa|nolint)[^\n]{0,80}?(?:\s(?:#|\/\/|--|—|-)\s?\w|: ?[a-z]+ [a-z]+ )|\b(?:because|until|see|upstream|bug|wrong types?)\b/i;

/** Lines that silence a compiler, a linter or the measurement of coverage. */
export function suppressions(changes: readonly FileChange[], book: RuleReporter): Finding[] {
  return changes.flatMap(({ path, added, removed }) => {
    if (!/\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|go|rs)$/.test(path)) return [];
    const before = new Set(removed.map((text) => text.trim()));
    return added
      .filter(({ text }) => SILENCERS.test(text.slice(0, 1000)) && !before.has(text.trim()))
      .slice(0, 10)
      .flatMap(({ line, text }) =>
        book.report(REASON.test(text.slice(0, 1000)) ? "suppression-explained" : "suppression-added", {
          file: path,
          line,
          message: `a complaint was silenced: ${text.trim().slice(0, 120)}`,
          suggestedFix: "Fix what it reports, or say on the same line why it must be silenced.",
        }),
      );
  });
}

/**
 * What a compiler, a linter or the measurement of coverage was told to leave alone, and what it was told to look at.
 * Generated and vendored files may be left out.
 */
function narrowedReach(path: string, was: string, is: string): string[] {
  if (IGNORE_FILE.test(path)) {
    const before = new Set(was.split("\n").map((line) => line.trim()));
    return is
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !/^[#!]/.test(line) && !before.has(line) && !isNobodys(line));
  }
  const [wasText, isText] = [ownParts(path, was), ownParts(path, is)];
  const leftBefore = new Set(entriesOf(wasText, LEAVES));
  const left = entriesOf(isText, LEAVES).filter((entry) => !leftBefore.has(entry) && !isNobodys(entry));
  if (!matchesAnyGlob(path, ["**/tsconfig*.json"])) return left;
  const looks = entriesOf(isText, LOOKS);
  const lost = entriesOf(wasText, LOOKS).filter((entry) => !looks.some((now) => covers(now, entry)));
  // Without any list a compiler looks at everything.
  return [...left, ...(looks.length === 0 ? [] : lost)];
}

const IGNORE_FILE = /(?:^|\/)\.(?:eslint|oxlint|stylelint|pylint)ignore$/;

const LEAVES =
  /["']?\b(exclude|extend-exclude|ignorePatterns|ignores|files\.ignore|per-file-ignores|extend-per-file-ignores|disable|disable_error_code|extend-ignore|ignore|omit|coveragePathIgnorePatterns)\b["']?\s{0,5}[:=]\s{0,5}(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|(?![[{])[^\n]{1,500})/g;
const LOOKS = /["'](include|files)["']\s{0,5}:\s{0,5}(\[[^\]]{0,2000}\])/g;

function entriesOf(text: string, keys: RegExp): string[] {
  return [...text.matchAll(keys)]
    .flatMap(([, , value = ""]) =>
      /^[[{]/.test(value)
        ? [...value.matchAll(/["']([^"'\n]{1,200})["']/g)].map(([, entry]) => entry!)
        : value.split(/[,\s]+/).map((entry) => entry.replace(/^["']|["']$/g, "")),
    )
    .filter((entry) => entry !== "" && !/^(?:true|false|\d+)$/.test(entry));
}

const isNobodys = (entry: string): boolean =>
  /(?:^|[/\\.*_])(?:node_modules|dist|build|out|output|target|coverage|generated|__generated__|gen|vendor|vendored|third_party|migrations|\.?venv|env|\.next|\.nuxt|\.cache|\.git|\.tox|\.mypy_cache|\.ruff_cache|\.remand|__pycache__|site-packages|public|storybook-static|tmp|temp)(?:$|[/\\*.])|\.(?:d\.ts|min\.js|map|lock|gen\.\w+|pb\.\w+)$/.test(
    entry,
  );

/** Does a pattern that is there now still reach what the old one reached? One single file does not stand for a folder. */
function covers(now: string, before: string): boolean {
  const [a, b] = [plain(now), plain(before)];
  return a === "" || a === b || b.startsWith(`${a}/`) || (now.includes("*") && (a.startsWith(`${b}/`) || a === b));
}

const plain = (entry: string): string =>
  entry
    .replace(/^\.\/?/, "")
    .replace(/\/?\*.*$/, "")
    .replace(/\/$/, "");

/** Of a file that many tools share, only what speaks of those that look. */
function ownParts(path: string, text: string): string {
  if (!/(?:^|\/)(?:pyproject\.toml|setup\.cfg|tox\.ini)$/.test(path)) return text;
  return text
    .split(/^(?=\[)/m)
    .filter((part) => /^\[+(?:tool\.)?(?:ruff|mypy|pylint|flake8|pyright|coverage|pycodestyle)/.test(part))
    .join("\n");
}
