import { contestedFinding } from "../core/gates/contested-test.ts";
import { identifyFinding } from "../core/gates/finding-identity.ts";
import { type GateReport, isPassed, needsLicense, openContested } from "../core/gates/gate-report.ts";
import type { Finding } from "../core/gates/finding.ts";
import type { Judgement } from "../core/gates/gate.ts";
import { licenseText } from "../core/gates/code-owners.ts";
import { type Glyphs, UNICODE_GLYPHS, shortLine } from "../views/text/words.ts";
import { gateLines, gateVerdict } from "../views/board/check-reports.ts";
import { writeJunit, writeSarif } from "../write/reports/junit-and-sarif.ts";
import { inertLines, workflowCommand } from "../write/reports/problem-text.ts";
import { EXIT, type ExitCode } from "../app/command.ts";
import { pickFields } from "./json-fields.ts";
import { type Paint, paintFor } from "./terminal-kind.ts";

export const GATE_FORMATS = ["text", "json", "sarif", "junit", "github"] as const;
export type GateFormat = (typeof GATE_FORMATS)[number];

export interface FormatSetting {
  readonly version: string;
  readonly glyphs: Glyphs;
  readonly paint: Paint;
  /** Fields of the JSON document; `null`: all. */
  readonly fields: readonly string[] | null;
}

/** Formats the results of gates for people, programs, code hosts or CI services. */
export function formatGates(report: GateReport, format: GateFormat, setting: FormatSetting): string {
  switch (format) {
    case "text":
      return textOf(report, setting.glyphs, setting.paint);
    case "json":
      return `${JSON.stringify({ schema: "remand.gate/1", ...pickFields(gateDocument(report), setting.fields) }, null, 2)}\n`;
    case "sarif":
      return writeSarif(
        report.judgements.flatMap((judgement) =>
          [...judgement.findings, ...contestedFindings(report, judgement), ...licensedFindings(report, judgement)].map(
            (finding) => atTop(finding, report),
          ),
        ),
        { toolVersion: setting.version, troubles: troublesOf(report) },
      );
    case "junit":
      return writeJunit(report);
    case "github":
      return githubText(report);
  }
}

function gateDocument(report: GateReport): object {
  return { exit: exitOfGates(report), passed: isPassed(report), ...report };
}

export function exitOfGates(report: GateReport): ExitCode {
  if (isPassed(report)) return EXIT.ok;
  return needsLicense(report) ? EXIT.person : EXIT.rejected;
}

/** Contested tests as findings that do not block. */
const contestedFindings = (report: GateReport, judgement: Judgement): readonly Finding[] =>
  openContested(report, judgement).map((each) => identifyFinding(contestedFinding(each, judgement.gate, "info")));

/** Tests that a code owner licensed, as findings that ask for no change. */
function licensedFindings({ licensed = [] }: GateReport, { gate }: Judgement): readonly Finding[] {
  return licensed
    .filter((each) => each.gate === gate)
    .map((each) => {
      const { suggestedFix: _fix, ...finding } = identifyFinding(contestedFinding(each, gate, "info"));
      return { ...finding, message: `${finding.message}; ${licenseText(each)}` };
    });
}

function textOf(report: GateReport, glyphs: Glyphs, paint: Paint): string {
  const lines = gateLines(report);
  const width = Math.max(0, ...lines.map(({ gate }) => gate.length));
  const tone = { accepted: paint.good, rejected: paint.bad, trouble: paint.warn, note: paint.dim };
  const shown = lines.map(({ mark, gate, text, details }) => {
    const sign = (tone[mark as keyof typeof tone] ?? paint.strong)(glyphs.marks[mark]);
    return `${sign} ${paint.strong(gate.padEnd(width))}  ${text}\n${details.map((each) => `    ${paint.dim(each)}\n`).join("")}`;
  });
  return `${shown.join("")}${gateVerdict(report, glyphs)}\n`;
}

/** Formats the report as a Markdown table. Output of tools is escaped in its cells. */
export function gateSummary(report: GateReport): string {
  const cell = (text: string): string => text.replaceAll(/[|<>`*_[\]\\]/g, (char) => `&#${char.codePointAt(0)};`);
  const rows = gateLines(report).flatMap(({ mark, gate, text, details }) => [
    `| ${UNICODE_GLYPHS.marks[mark]} ${gate} | ${cell([text, ...details].join("\n")).replaceAll("\n", "<br>")} |`,
  ]);
  return [
    "## Remand gate",
    "",
    "| gate | |",
    "|---|---|",
    ...rows,
    "",
    gateVerdict(report, UNICODE_GLYPHS),
    "",
    "",
  ].join("\n");
}

/** The summaries of gates that broke or proved nothing. They have no findings, so they would look clean otherwise. */
function troublesOf({ judgements }: GateReport): readonly string[] {
  return judgements
    .filter(({ result, blocking }) => result !== "pass" && !(result === "fail" && blocking.length > 0))
    .map(({ summary }) => summary);
}

/** The text that people get elsewhere, followed by annotations on the lines of the files. */
function githubText(report: GateReport): string {
  const text = inertLines(textOf(report, UNICODE_GLYPHS, paintFor(false)));
  const annotations = report.judgements.flatMap((judgement) => {
    const { gate, result, findings, blocking, summary } = judgement;
    const shown = findings.filter(({ id, file }) => file !== undefined && (result === "fail" || blocking.includes(id)));
    const errors = shown.map((finding) => {
      const { file, line, message, id } = atTop(finding, report);
      const place = { file: file!, ...(line === undefined ? {} : { line: String(line) }) };
      const kind = blocking.includes(id) ? "error" : "warning";
      return `${workflowCommand(kind, { ...place, title: `remand: ${gate}` }, shortLine(message, 500))}\n`;
    });
    const hasOwnError = result === "pass" || errors.length > 0;
    const ownError = hasOwnError
      ? []
      : [`${workflowCommand("error", { title: `remand: ${gate}` }, shortLine(summary, 500))}\n`];
    const annotation = (kind: string, title: string) => (each: Finding) => {
      const { file, message } = atTop(each, report);
      const at = { ...(file === undefined ? {} : { file }), title };
      return `${workflowCommand(kind, at, shortLine(message, 500))}\n`;
    };
    const contested = contestedFindings(report, judgement).map(annotation("warning", "remand: contested test"));
    const licensed = licensedFindings(report, judgement).map(annotation("notice", "remand: licensed test"));
    // GitHub shows at most ten annotations of a kind per step.
    return [...[...errors, ...ownError].slice(0, 10), ...contested.slice(0, 10), ...licensed.slice(0, 10)];
  });
  return text + annotations.join("");
}

/** Gates report paths relative to the folder that they judge; code hosts need paths from the root of the repository. */
function atTop(finding: Finding, { judged: { folder } }: GateReport): Finding {
  return folder === "" || finding.file === undefined ? finding : { ...finding, file: `${folder}/${finding.file}` };
}
