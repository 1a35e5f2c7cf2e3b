import type { Finding } from "../../core/gates/finding.ts";
import type { FilePair } from "./file-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";

/**
 * A test that no longer uses what it used: the name is now a function of the test file, or comes from a file of the
 * tests. The same for what asserts. Files that moved are still what they were.
 */
export function replacedSubjects(
  files: readonly FilePair[],
  isTest: (path: string) => boolean,
  book: RuleReporter,
): Finding[] {
  return files.flatMap(({ path, before, after }) => {
    if (before === null || after === null || before === after) return [];
    const was = importsOf(path, before);
    const is = importsOf(path, after);
    const text = withoutImports(after);
    return [...was].flatMap(([name, from]) => {
      const isAssertion = /^(?:assert|expect)$/.test(name);
      const isOwn = isLocal(path, from);
      if ((!isOwn && !isAssertion) || (isOwn && isTest(resolveImport(path, from)))) return [];
      const now = is.get(name);
      const made = definition(name, text);
      const isMade = made !== null && definition(name, withoutImports(before)) === null;
      // A runner's own fixtures are handed on with what asserts.
      const isOther = now !== undefined && now !== from && isStub(path, now, isTest) && !/fixture/i.test(now);
      if (!isMade && !isOther) return [];
      const instead = isMade ? `is now made in the test: ${made}` : `now comes from ${now}`;
      return book.report(isAssertion ? "assertion-trivial" : "subject-mocked", {
        file: path,
        symbol: name,
        message: isAssertion
          ? `what asserts was replaced: \`${name}\` ${instead}`
          : `the test replaces what it is about: \`${name}\` ${instead}`,
        suggestedFix: `Take \`${name}\` from ${from} again, as before.`,
      });
    });
  });
}

const IMPORT =
  /\bimport\s{1,5}(?:type\s{1,5})?([\w$*{}\s,]{1,500}?)\s{1,5}from\s{0,5}["']([^"'\n]{1,300})["']|\b(?:const|let|var)\s{1,5}([\w$]{1,100}|\{[^}]{1,500}\})\s{0,5}=\s{0,5}(?:await\s{1,5}import|require)\(\s{0,5}["']([^"'\n]{1,300})["']\s{0,5}\)/g;
const PY_IMPORT = /^\s{0,40}from ([\w.]{1,200}) import \(?([\w\s,]{1,500})\)?/gm;

/** Which names come from where. */
function importsOf(path: string, text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (path.endsWith(".py")) {
    for (const [, from, names] of text.matchAll(PY_IMPORT))
      for (const name of namesIn(names!.split("\n")[0]!)) found.set(name, from!);
    return found;
  }
  for (const [, names, from, made, required] of text.matchAll(IMPORT))
    for (const name of namesIn((names ?? made)!)) found.set(name, (from ?? required)!);
  return found;
}

/** `a, { b as c, d: e }, * as f` brings in `a`, `c`, `e` and `f`. */
function namesIn(list: string): string[] {
  return list
    .split(/[{},]/)
    .map((part) =>
      part
        .trim()
        .split(/\s+as\s+|\s*:\s*/)
        .at(-1)!
        .replace(/^type\s+/, "")
        .trim(),
    )
    .filter((name) => /^[\w$]+$/.test(name));
}

const withoutImports = (text: string): string => text.replace(IMPORT, "").replace(PY_IMPORT, "");

/** A function, a class or a mock of this name that the file makes for itself. What is only a value does not count. */
function definition(name: string, text: string): string | null {
  const word = name.replace(/\$/g, "\\$");
  const made = new RegExp(
    `^[^\\n/#*]{0,80}\\b(?:(?:function\\*?|class|def)\\s{1,3}${word}\\b|(?:(?:const|let|var)\\s{1,3})?(?<![.\\w$])${word}\\s{0,3}=\\s{0,3}(?:(?:async\\s{1,3})?(?:\\([^()\\n]{0,200}\\)|\\w{1,60})\\s{0,3}=>|(?:async\\s{1,3})?function\\b|lambda\\b|(?:vi|jest|mock|sinon)\\.\\w{1,20}\\(|(?:Magic|Async)?Mock\\(|\\{))[^\\n]{0,80}`,
    "m",
  ).exec(text);
  return made === null ? null : made[0].trim().slice(0, 80);
}

/** From the project itself. In Python that cannot be told from a package; what is read is only whether it is replaced. */
const isLocal = (path: string, from: string): boolean =>
  path.endsWith(".py") ? !/^(?:pytest|unittest|typing|os|sys|re|json|pathlib)\b/.test(from) : /^[./@~#]/.test(from);

function isStub(path: string, from: string, isTest: (path: string) => boolean): boolean {
  if (/(?:^|[./_-])(?:stubs?|fakes?|mocks?|__mocks__|dumm(?:y|ies))(?:$|[./_-])/i.test(from)) return true;
  return (path.endsWith(".py") || /^\.{1,2}\//.test(from)) && isTest(resolveImport(path, from));
}

/** Where a name leads to that a file gives for another. */
export function resolveImport(path: string, from: string): string {
  if (path.endsWith(".py")) return `${from.replaceAll(".", "/")}.py`;
  const parts = path.split("/").slice(0, -1);
  for (const part of from.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
