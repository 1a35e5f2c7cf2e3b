import { type Finding, toSarifLevel } from "../../core/gates/finding.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { jsonText } from "../../stdx/canonical-json.ts";

export interface SarifOptions {
  readonly toolVersion: string;
  /** What kept anything from being judged, in sentences. A log without findings that says so is no clean log. */
  readonly troubles?: readonly string[];
}

/** Findings as SARIF 2.1.0, for code hosts and editors. A rule is a category; the fingerprint is the finding's identity. */
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

/** A finding about the work as a whole has no location; one about a symbol may have that and no file. */
function locationsOf(finding: Finding): object[] {
  const physical =
    finding.file === undefined
      ? {}
      : { physicalLocation: { artifactLocation: artifactOf(finding.file), ...regionOf(finding.line) } };
  const logical = finding.symbol === undefined ? {} : { logicalLocations: [{ name: finding.symbol }] };
  const location = { ...physical, ...logical };
  return Object.keys(location).length === 0 ? [] : [location];
}

/** The standard counts lines from 1; a line that is none is left out. */
function regionOf(line: number | undefined): object {
  return line !== undefined && Number.isInteger(line) && line >= 1 ? { region: { startLine: line } } : {};
}

/** A path of the checkout is relative to its root; an absolute one becomes a file URI. */
function artifactOf(file: string): { uri: string; uriBaseId?: string } {
  const path = file.replaceAll("\\", "/").replace(/\p{Surrogate}/gu, "\uFFFD");
  if (/^[A-Za-z]:\//.test(path)) return { uri: `file:///${path.slice(0, 2)}${encodePath(path.slice(2))}` };
  if (path.startsWith("/")) return { uri: `file://${encodePath(path.replace(/^\/+/, "/"))}` };
  return { uri: encodePath(path.replace(/^(?:\.\/)+/, "")), uriBaseId: "%SRCROOT%" };
}

const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
