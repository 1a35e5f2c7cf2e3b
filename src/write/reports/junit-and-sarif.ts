import type { GateReport, SkippedGate } from "../../core/gates/gate-report.ts";
import { type Finding, toSarifLevel } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { Result } from "../../core/events/error.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { jsonText } from "../../stdx/canonical-json.ts";

/**
 * Writes gate results as JUnit XML for CI services: a suite per gate, a case per part. Only a pass is green: a gate
 * that proved nothing is an error, because services treat a skipped case as harmless.
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

/**
 * The cases are the parts that people know by name: commands, criteria, stages. If no part explains the result, each
 * blocking finding is a case.
 */
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

/** XML cannot contain most control characters, not even escaped, so they are replaced by a mark. */
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

export interface SarifOptions {
  readonly toolVersion: string;
  /** What kept gates from judging, as sentences. They keep a log without findings from looking clean. */
  readonly troubles?: readonly string[];
}

/**
 * Writes findings as SARIF 2.1.0, for code hosts and editors. A rule is a category; the fingerprint is the finding's
 * identity.
 */
export function writeSarif(findings: readonly Finding[], options: SarifOptions): string {
  const rules = [...new Set(findings.map(ruleOf))].sort(byText);
  const indexOf = new Map(rules.map((rule, index) => [rule, index]));
  return jsonText({
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "remand",
            semanticVersion: options.toolVersion,
            rules: rules.map((id) => ({ id, shortDescription: { text: `Findings of the category ${id}` } })),
          },
        },
        ...(options.troubles === undefined ? {} : { invocations: [invocationOf(options.troubles)] }),
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => resultOf(finding, indexOf.get(ruleOf(finding))!)),
      },
    ],
  });
}

function invocationOf(troubles: readonly string[]): object {
  return {
    executionSuccessful: troubles.length === 0,
    toolExecutionNotifications: troubles.map((text) => ({ level: "error", message: { text } })),
  };
}

const ruleOf = (finding: Finding): string => finding.category.trim() || "uncategorised";

function resultOf(finding: Finding, ruleIndex: number): object {
  return {
    ruleId: ruleOf(finding),
    ruleIndex,
    level: toSarifLevel(finding.severity),
    message: { text: finding.message.trim() || "No message was given." },
    locations: locationsOf(finding),
    partialFingerprints: { "remandFinding/v1": finding.id },
    properties: {
      severity: finding.severity,
      source: finding.source,
      ...(finding.stage === undefined ? {} : { stage: finding.stage }),
      ...(finding.criterion === undefined ? {} : { criterion: finding.criterion }),
      ...(finding.suggestedFix === undefined ? {} : { suggestedFix: finding.suggestedFix }),
    },
  };
}

/** A finding about the whole work has no location; a finding about a symbol may have a symbol but no file. */
function locationsOf(finding: Finding): object[] {
  const physical =
    finding.file === undefined
      ? {}
      : { physicalLocation: { artifactLocation: artifactOf(finding.file), ...regionOf(finding.line) } };
  const logical = finding.symbol === undefined ? {} : { logicalLocations: [{ name: finding.symbol }] };
  const location = { ...physical, ...logical };
  return Object.keys(location).length === 0 ? [] : [location];
}

/** The standard counts lines from 1; an invalid number is left out. */
function regionOf(line: number | undefined): object {
  return line !== undefined && Number.isInteger(line) && line >= 1 ? { region: { startLine: line } } : {};
}

/** A path in the checkout is relative to its root; an absolute path becomes a file URI. */
function artifactOf(file: string): { uri: string; uriBaseId?: string } {
  const path = file.replaceAll("\\", "/").replace(/\p{Surrogate}/gu, "\uFFFD");
  if (/^[A-Za-z]:\//.test(path)) return { uri: `file:///${path.slice(0, 2)}${encodePath(path.slice(2))}` };
  if (path.startsWith("/")) return { uri: `file://${encodePath(path.replace(/^\/+/, "/"))}` };
  return { uri: encodePath(path.replace(/^(?:\.\/)+/, "")), uriBaseId: "%SRCROOT%" };
}

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
