import type { GateReport, SkippedGate } from "../../core/gates/gate-report.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Result } from "../../core/events/error.ts";

/**
 * What gates said as JUnit XML, for CI services: a suite for each gate, a case for each of its parts. Only what passed
 * is green there: what proved nothing is an error, since services show a skipped case as no trouble at all.
 */
export function writeJunit({ judgements, skipped }: Pick<GateReport, "judgements" | "skipped">): string {
  const suites = [...judgements.map(suiteOf), ...skipped.map(skippedSuite)];
  const total = totals(suites.flatMap(({ cases }) => cases));
  const seconds = secondsOf(judgements.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: "remand", ...total, time: seconds })}>`,
    ...suites.flatMap(suiteLines),
    "</testsuites>",
    "",
  ].join("\n");
}

interface Suite {
  readonly name: string;
  readonly time: string;
  readonly cases: readonly JunitCase[];
}

interface JunitCase {
  readonly name: string;
  readonly classname: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly end: "pass" | "failure" | "error" | "skipped";
  readonly type: string;
  readonly message: string;
  readonly text: string;
}

function suiteOf(judgement: Judgement): Suite {
  return { name: judgement.gate, time: secondsOf(judgement.durationMs), cases: casesOf(judgement) };
}

/** The parts of a gate are what people know by name: commands, criteria, stages. Without parts it is its findings. */
function casesOf(judgement: Judgement): readonly JunitCase[] {
  const { gate, runs = [], criteria = [], stages = [] } = judgement;
  const blocking = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
  const text = blocking.map(findingLines).join("\n");
  const part = (name: string, classname: string, result: Result, message: string): JunitCase => ({
    name,
    classname,
    end: END[result],
    type: result,
    message,
    text: result === "pass" ? "" : text,
  });
  const parts = [
    ...runs.map((run) => part(run.check, `${gate}.${run.environment}`, run.result, run.details)),
    ...criteria.map(({ criterion, status, evidence }) => part(criterion, gate, CRITERION[status], evidence)),
    ...stages.map(({ stage, result, summary = "" }) => part(stage, gate, result, summary)),
  ];
  const isTold = judgement.result === "pass" || parts.some(({ end }) => end !== "pass");
  if (parts.length > 0 && isTold) return parts;
  if (judgement.result === "fail" && blocking.length > 0)
    return [...parts, ...blocking.map((finding) => findingCase(gate, finding))];
  return [...parts, part(gate, gate, judgement.result, judgement.summary)];
}

const END: { readonly [R in Result]: JunitCase["end"] } = {
  pass: "pass",
  fail: "failure",
  blocked: "error",
  error: "error",
  inconclusive: "error",
};

const CRITERION = { verified: "pass", failed: "fail", unknown: "inconclusive" } as const;

function findingCase(gate: string, finding: Finding): JunitCase {
  const { message, category, file, line } = finding;
  return {
    name: file === undefined ? message : `${file}: ${message}`,
    classname: `${gate}.${category}`,
    file,
    line,
    end: "failure",
    type: finding.severity,
    message,
    text: findingLines(finding),
  };
}

function findingLines({ severity, file, line, message, detail, suggestedFix }: Finding): string {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
  return [
    `${severity}: ${place}${message}`,
    ...(detail === undefined ? [] : [detail]),
    ...(suggestedFix === undefined ? [] : [`fix: ${suggestedFix}`]),
  ].join("\n");
}

function skippedSuite({ gate, why }: SkippedGate): Suite {
  const only: JunitCase = { name: gate, classname: gate, end: "skipped", type: "skipped", message: why, text: "" };
  return { name: gate, time: "0", cases: [only] };
}

function totals(cases: readonly JunitCase[]): Readonly<Record<string, number>> {
  const count = (end: JunitCase["end"]): number => cases.filter((each) => each.end === end).length;
  return { tests: cases.length, failures: count("failure"), errors: count("error"), skipped: count("skipped") };
}

function suiteLines({ name, time, cases }: Suite): string[] {
  return [
    `  <testsuite${attributes({ name: `remand ${name}`, ...totals(cases), time })}>`,
    ...cases.map(caseLine),
    "  </testsuite>",
  ];
}

function caseLine({ name, classname, file, line, end, type, message, text }: JunitCase): string {
  const head = `    <testcase${attributes({ name, classname, file, line })}`;
  if (end === "pass") return `${head}/>`;
  const inside = end === "skipped" ? attributes({ message }) : attributes({ type, message });
  return `${head}><${end}${inside}${text === "" ? "/>" : `>${escapeXml(text)}</${end}>`}</testcase>`;
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .flatMap(([key, value]) =>
      value === undefined ? [] : [` ${key}="${escapeXml(String(value)).replaceAll("\n", "&#10;")}"`],
    )
    .join("");
}

const secondsOf = (ms: number): string => String(ms / 1000);

/** XML has no way to say most control characters, not even escaped; what stands there is shown as a mark. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/\p{Surrogate}/gu, "\uFFFD")
    .replaceAll(FORBIDDEN, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\r", "&#13;")
    .replaceAll("\t", "&#9;");
}

// oxlint-disable-next-line no-control-regex -- control characters are what this removes
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
