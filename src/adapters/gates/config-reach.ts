import { matchesAnyGlob } from "../../stdx/glob.ts";

/**
 * What a compiler, a linter or the measurement of coverage was told to leave alone, and what it was told to look at.
 * What is generated, or comes from elsewhere, may be left alone by everybody.
 */
export function narrowedReach(path: string, was: string, is: string): string[] {
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

export const IGNORE_FILE = /(?:^|\/)\.(?:eslint|oxlint|stylelint|pylint)ignore$/;

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
