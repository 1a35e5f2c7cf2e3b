import { testCounts, type CodeLocation, type OutputFailure, type PassedTest } from "./test-output-parts.ts";
import { timeOf, reportedFailure, type ReadReport } from "./test-report-parts.ts";

/**
 * Reads JUnit's XML, as most runners write it:
 * ```
 * <testsuites><testsuite name="a" timestamp="…">
 *   <testcase classname="test/a.test.ts" name="outer &gt; adds"><failure message="…">stack</failure></testcase>
 * ```
 * Each test case is counted; the totals in the attributes are used only if they are worse.
 */
export function readJunit(text: string): ReadReport {
  const seen = { passed: 0, failed: 0, skipped: 0 };
  const failures: OutputFailure[] = [];
  const passed: PassedTest[] = [];
  const skipped: PassedTest[] = [];
  const notLoaded: string[] = [];
  const said = { failed: 0, writtenAt: null as number | null, root: null as string | null };
  let files: (string | null)[] = [];
  let test: JunitCase | null = null;
  let trouble: { message: string; body: string } | null = null;
  const problem = readXml(text, {
    open(name, attributes) {
      said.root ??= name;
      if (name === "testsuite") {
        files.push(attributes.get("file") ?? files.at(-1) ?? null);
        if (attributes.has("timestamp")) said.writtenAt = later(said.writtenAt, timeOf(attributes.get("timestamp")!));
        if (files.length === 1) said.failed += numberOf(attributes, "failures") + numberOf(attributes, "errors");
      } else if (name === "testcase") test = { ...caseOf(attributes, files.at(-1) ?? null), outcome: "passed" };
      else if (name === "skipped" && test !== null && test.outcome === "passed") test.outcome = "skipped";
      else if (name === "failure" || name === "error") {
        if (test !== null) test.outcome = "failed";
        trouble ??= { message: attributes.get("message") ?? attributes.get("type") ?? "", body: "" };
      }
    },
    text(piece) {
      if (trouble !== null && trouble.body.length < LONGEST_BODY) trouble.body += piece;
    },
    close(name) {
      if (name === "testsuite") files = files.slice(0, -1);
      if (name !== "testcase" || test === null) return;
      seen[test.outcome]++;
      if (test.outcome !== "failed")
        (test.outcome === "passed" ? passed : skipped).push({ test: test.name, file: test.place?.file ?? null });
      // A file that did not load is listed as a test with the file's name, or says that it was not collected.
      const isFile =
        test.name === test.place?.file ||
        trouble?.message === "collection failure" ||
        /^\[Error: test failed\] \{.*\bexitCode: \d/m.test(trouble?.body ?? "");
      if (test.outcome === "failed" && isFile) notLoaded.push(test.place?.file ?? test.name);
      if (test.outcome === "failed")
        failures.push(reportedFailure(test.name, trouble?.message ?? "", trouble?.body ?? "", test.place));
      test = null;
      trouble = null;
    },
  });
  if (problem !== null) return { report: null, problem };
  if (said.root !== "testsuites" && said.root !== "testsuite")
    return { report: null, problem: `it is XML of no form that is known: \`<${said.root!.slice(0, 50)}>\`` };
  const counts = testCounts(seen.passed, Math.max(seen.failed, said.failed), seen.skipped);
  const ranTests = counts.passed + counts.failed > 0;
  const head = { kind: "junit", runners: ["junit"], more: 0, writtenAt: said.writtenAt };
  return {
    report: { ...head, counts, ranTests, failures, passed, skipped, notLoaded },
    problem: null,
  };
}

const LONGEST_BODY = 20_000;

interface JunitCase {
  readonly name: string;
  readonly place: CodeLocation | null;
  outcome: "passed" | "failed" | "skipped";
}

/**
 * Reads the name and file of a test. Some runners put the file into the class name. A class name precedes the test's
 * name, unless the name already includes it.
 */
function caseOf(attributes: ReadonlyMap<string, string>, suiteFile: string | null): Omit<JunitCase, "outcome"> {
  const name = attributes.get("name") ?? "";
  // Node always writes `test` there.
  const group = attributes.get("classname")?.replace(/^test$/, "") ?? "";
  const isPath = /[/\\]|\.(?:[cm]?[jt]sx?|py|rb|php|go|rs)$/.test(group);
  const file = attributes.get("file") ?? (isPath ? group : suiteFile);
  const line = Number(attributes.get("line") ?? "1");
  return {
    name: isPath || group === "" || name.startsWith(group) ? name || group || "a test" : `${group} > ${name}`,
    place: file === null ? null : { file, line: Number.isSafeInteger(line) && line > 0 ? line : 1 },
  };
}

function numberOf(attributes: ReadonlyMap<string, string>, name: string): number {
  const text = attributes.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

const later = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);

/** The events of an XML text, in document order. */
export interface XmlEvents {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  text(text: string): void;
}

/**
 * Reads the part of XML that reports use, in one pass. The structure must be complete: a report that ends in the middle
 * is rejected. Entities that the text declares stay as they are, so that nothing can expand and nothing is fetched.
 * Returns the problem, or `null`.
 */
export function readXml(text: string, events: XmlEvents): string | null {
  const open: string[] = [];
  let at = 0;
  let hadRoot = false;
  for (;;) {
    const next = text.indexOf("<", at);
    if (open.length > 0 && next > at) events.text(unescape(text.slice(at, next)));
    if (next === -1) break;
    const tag = tagAt(text, next);
    if (tag === null) return `it breaks off at character ${next}`;
    if (tag.kind === "text" && open.length > 0) events.text(tag.text);
    if (tag.kind === "open") {
      if (open.length === 0 && hadRoot) return "it has more than one root";
      if (open.length >= DEEPEST) return `it is nested more than ${DEEPEST} levels deep`;
      hadRoot = true;
      events.open(tag.name, tag.attributes);
      if (tag.isEmpty) events.close(tag.name);
      else open.push(tag.name);
    }
    if (tag.kind === "close") {
      if (open.pop() !== tag.name) return `\`</${tag.name.slice(0, 50)}>\` closes what is not open`;
      events.close(tag.name);
    }
    at = tag.end;
  }
  if (!hadRoot) return "it has no element";
  return open.length === 0 ? null : `\`<${open.at(-1)!.slice(0, 50)}>\` is never closed`;
}

const DEEPEST = 100;

type Tag = { readonly end: number } & (
  | { readonly kind: "skip" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "close"; readonly name: string }
  | {
      readonly kind: "open";
      readonly name: string;
      readonly attributes: ReadonlyMap<string, string>;
      readonly isEmpty: boolean;
    }
);

function tagAt(text: string, at: number): Tag | null {
  if (text.startsWith("<!--", at)) return until(text, at + 4, "-->");
  if (text.startsWith("<?", at)) return until(text, at + 2, "?>");
  if (text.startsWith("<![CDATA[", at)) {
    const end = text.indexOf("]]>", at);
    return end === -1 ? null : { kind: "text", text: text.slice(at + 9, end), end: end + 3 };
  }
  if (text.startsWith("<!", at)) {
    const end = text.indexOf(">", at);
    // Declarations of the document type are skipped as a whole.
    return end !== -1 && text.slice(at, end).includes("[") ? until(text, at, "]>") : until(text, at, ">");
  }
  if (text[at + 1] === "/") {
    const end = text.indexOf(">", at);
    return end === -1 ? null : { kind: "close", name: text.slice(at + 2, end).trim(), end: end + 1 };
  }
  return elementAt(text, at);
}

function until(text: string, from: number, mark: string): Tag | null {
  const end = text.indexOf(mark, from);
  return end === -1 ? null : { kind: "skip", end: end + mark.length };
}

function elementAt(text: string, at: number): Tag | null {
  const name = matchAt(/[^\s/>=<"']+/y, text, at + 1);
  if (name === null) return null;
  const attributes = new Map<string, string>();
  let end = at + 1 + name[0].length;
  for (;;) {
    const attribute = matchAt(/\s+([^\s=/>"'<]+)\s*=\s*(["'])/y, text, end);
    if (attribute === null) break;
    const from = end + attribute[0].length;
    const to = text.indexOf(attribute[2]!, from);
    if (to === -1) return null;
    attributes.set(attribute[1]!, unescape(text.slice(from, to)));
    end = to + 1;
  }
  const close = matchAt(/\s*(\/?)>/y, text, end);
  if (close === null) return null;
  return { kind: "open", name: name[0], attributes, isEmpty: close[1] === "/", end: end + close[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescape(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/g,
    (whole: string, hex: unknown, decimal: unknown, name: unknown) => {
      if (typeof name === "string") return NAMED[name]!;
      const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
