import { testCounts, type CodeLocation, type OutputFailure, type PassedTest } from "./test-output-parts.ts";
import { timeOf, toldFailure, type ReadReport } from "./test-report-parts.ts";
import { readXml } from "./test-report-xml.ts";

/**
 * JUnit's XML, as most runners write it:
 * ```
 * <testsuites><testsuite name="a" timestamp="…">
 *   <testcase classname="test/a.test.ts" name="outer &gt; adds"><failure message="…">stack</failure></testcase>
 * ```
 * Each test is counted where it stands: the totals in the heads are used only when they
 * are worse.
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
      // A file that did not load stands there as a test with the file's name, or says that it was not collected.
      const isFile =
        test.name === test.place?.file ||
        trouble?.message === "collection failure" ||
        /^\[Error: test failed\] \{.*\bexitCode: \d/m.test(trouble?.body ?? "");
      if (test.outcome === "failed" && isFile) notLoaded.push(test.place?.file ?? test.name);
      if (test.outcome === "failed")
        failures.push(toldFailure(test.name, trouble?.message ?? "", trouble?.body ?? "", test.place));
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

/** Some put the file into the class's name. A class's name stands in front of the test's, unless it is there already. */
function caseOf(attributes: ReadonlyMap<string, string>, suiteFile: string | null): Omit<JunitCase, "outcome"> {
  const name = attributes.get("name") ?? "";
  // Node writes `test` there, whatever it is.
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
