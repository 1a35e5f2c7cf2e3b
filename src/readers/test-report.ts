import { plainText } from "../stdx/plain-text.ts";
import { readJunit } from "./junit.ts";
import { readSarif } from "./sarif.ts";
import type { ReadReport, TestReport } from "./test-report-parts.ts";
import { readJsonReport } from "./test-report-json.ts";
import { below, readTestOutput, within } from "./test-output.ts";

/**
 * Reads a file that a check left behind, by what is in it and not by how it is called: JUnit's XML, SARIF, the JSON of
 * Vitest, Jest, Mocha and pytest, TAP, and whatever is also read from what a check prints. `folder` is where it ran.
 */
export function readTestReport(text: string, folder: string): ReadReport {
  const start = text.replace(/^\uFEFF/, "").trimStart();
  if (start === "") return { report: null, problem: "it is empty" };
  if (start.startsWith("<")) return shortened(readJunit(start), folder);
  const isLines = /^\{[^\n]*\}[ \t\r]*\n\s*\{/.test(start) || /^\{ ?"(?:Time|Action|type)":/.test(start);
  if (/^[{[]/.test(start) && !isLines) return shortened(readJson(start), folder);
  const output = readTestOutput(plainText(text), folder);
  if (output.runners.length === 0) return { report: null, problem: "it is in no form that is known" };
  return { report: { ...output, kind: output.runners.join(", "), writtenAt: null }, problem: null };
}

function readJson(text: string): ReadReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { report: null, problem: `it is no JSON: ${(error as Error).message.slice(0, 100)}` };
  }
  return readSarif(value) ?? readJsonReport(value) ?? { report: null, problem: "it is JSON of no form that is known" };
}

const MOST_FAILURES = 200;

/** Paths as they are called below the folder, and no more failures than anybody reads. */
function shortened(read: ReadReport, folder: string): ReadReport {
  if (read.report === null) return read;
  const { failures } = read.report;
  const report: TestReport = {
    ...read.report,
    failures: failures.slice(0, MOST_FAILURES).map((failure) => within(failure, folder)),
    notLoaded: (read.report.notLoaded ?? []).map((path) => below(path, folder)),
    more: read.report.more + Math.max(0, failures.length - MOST_FAILURES),
  };
  return { report, problem: null };
}
