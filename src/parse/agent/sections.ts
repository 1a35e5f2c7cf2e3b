import type { ReadCommand, ReadFinding, ReadIncomplete, ReadVerification, Signal } from "../../core/stories/reading.ts";
import { type ReadingParts, findingFromLine, recordOf } from "./finding-line.ts";
import { type SectionItem, type SectionName, type Sections, readSections } from "./section-headings.ts";
import { incompleteCategory, priorityOf, verificationStatus } from "./verdict-value.ts";

/** Reads everything that can accompany a signal (S2.15, S2.16, S2.31 to S2.33). */
export function readSignalParts(text: string, signal: Signal | null): SignalParts {
  const sections = readSections(text, signal);
  const said = textOf(sections, "allEnvironments");
  const isVerified = said === null || /^(?:verified|confirmed)\b/i.test(said);
  const problems = isVerified ? [] : [`Not all required environments are verified: ${said.slice(0, 200)}.`];
  return { parts: partsOf(sections, signal), problems };
}

interface SignalParts {
  readonly parts: ReadingParts;
  readonly problems: readonly string[];
}

function partsOf(sections: Sections, signal: Signal | null): ReadingParts {
  const failed = criteriaOf(sections, "failedCriteria", "failed");
  const matrix = matrixOf(sections);
  const listed = filesOrWords(sections, "environments");
  const issue = textOf(sections, "issue");
  const infrastructure = commandOf(sections);
  return {
    findings: [...findingsOf(sections), ...failed.map(findingOfCriterion)],
    requiredFixes: itemsOf(sections, "requiredFixes"),
    passing: itemsOf(sections, "passingCriteria"),
    quality: qualityOf(sections),
    verification: [...criteriaOf(sections, "verification", "unknown"), ...failed],
    commands: [...itemsOf(sections, "commands").map(commandFromLine), ...matrix, ...infrastructure],
    environments:
      listed.length > 0 ? listed : unique([...matrix, ...infrastructure].map(({ environment }) => environment)),
    // Broken infrastructure is listed here for every signal that reports it.
    preExisting: [...itemsOf(sections, "preExisting"), ...(issue === null ? [] : [issue])],
    filesReviewed: filesOrWords(sections, "filesReviewed"),
    filesModified: filesOrWords(sections, "filesModified"),
    context: itemsOf(sections, "context"),
    incomplete: signal === "TASK_INCOMPLETE" ? incompleteOf(sections) : null,
    priority: priorityOf(textOf(sections, "priority")?.replace(/[*_`.]/g, "") ?? null),
    summary: textOf(sections, "summary") ?? issue,
  };
}

const NOTHING = /^[\s*_`(]*(?:none|n\/a|nothing|no issues?(?: found)?|-)[\s*_`).]*$/i;

/** Returns the list under a heading; without a list, its lines. */
function entriesOf(sections: Sections, name: SectionName): readonly SectionItem[] {
  const section = sections.get(name);
  if (section === undefined) return [];
  const entries =
    section.items.length > 0 ? section.items : section.lines.map((text) => ({ text, details: [], severity: null }));
  return entries.filter(({ text }) => text !== "" && !NOTHING.test(text));
}

function itemsOf(sections: Sections, name: SectionName): readonly string[] {
  return entriesOf(sections, name).map(({ text, details }) => [text, ...details].join(" "));
}

function textOf(sections: Sections, name: SectionName): string | null {
  const section = sections.get(name);
  if (section === undefined) return null;
  const text = [...section.lines, ...section.items.map((item) => item.text)].join("\n").trim();
  return text === "" ? null : text;
}

/** Reads paths and names: one on each line, or separated by commas on the heading's line. */
function filesOrWords(sections: Sections, name: SectionName): readonly string[] {
  const section = sections.get(name);
  const entries = entriesOf(sections, name).map(({ text }) => text);
  const words = section?.items.length === 0 ? entries.flatMap((line) => line.split(/,\s?/)) : entries;
  return words.flatMap((word) => bareName(word) || []);
}

/** Removes backticks and the remark after a name. */
function bareName(text: string): string {
  const quoted = /^(?:\*\*)?`([^`]+)`/.exec(text)?.[1];
  if (quoted !== undefined) return quoted.trim();
  return text
    .split(/ [–—-] | \(|: /, 1)[0]!
    .replace(/^\*\*|\*\*$/g, "")
    .trim();
}

function findingsOf(sections: Sections): readonly ReadFinding[] {
  return entriesOf(sections, "issues").map(({ text, details, severity }) => findingFromLine(text, details, severity));
}

function findingOfCriterion({ criterion, evidence }: ReadVerification): ReadFinding {
  return { ...findingFromLine(evidence || `Not met: ${criterion}`), criterion };
}

function criteriaOf(
  sections: Sections,
  name: SectionName,
  otherwise: ReadVerification["status"],
): readonly ReadVerification[] {
  return entriesOf(sections, name).map(({ text, details }) => {
    const whole = [text, ...details].join(" ");
    const match = CRITERION.exec(whole);
    if (match === null) {
      const mark = /^\s*([✅✔✓]|❌|✗|✘|✖)️?\s*/u.exec(whole);
      const status = mark === null ? otherwise : "✅✔✓".includes(mark[1]!) ? "verified" : "failed";
      return { criterion: whole.slice(mark?.[0].length ?? 0), status, evidence: "" };
    }
    const evidence = whole.slice(match.index + match[0].length).trim();
    return { criterion: plainLabel(whole.slice(0, match.index)), status: verificationStatus(match[1]!), evidence };
  });
}

const CRITERION =
  /: ?\*{0,2}(NOT VERIFIED|NOT MET|VERIFIED|PASSED|PASS|MET|CONFIRMED|FAILED|FAIL|UNMET)\b\*{0,2}(?: ?[–—:-])?/i;

/**
 * Removes white space and emphasis marks around a text. A loop, because a pattern for the end would try every position.
 */
function plainLabel(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && AROUND.includes(text[start]!)) start++;
  while (end > start && AROUND.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const AROUND = " \t\n*_`";

function qualityOf(sections: Sections): Readonly<Record<string, string>> {
  return recordOf(
    itemsOf(sections, "quality").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 1 ? [] : [[plainLabel(line.slice(0, colon)), plainLabel(line.slice(colon + 1))] as const];
    }),
  );
}

/** Reads `npm test (node20): PASS`. The command may contain colons, so the last one counts. */
function commandFromLine(line: string): ReadCommand {
  const colon = Math.max(line.lastIndexOf(": "), line.lastIndexOf(" → "), line.lastIndexOf(" => "));
  const said = colon < 0 ? line : line.slice(0, colon);
  const result = colon < 0 ? "" : plainLabel(line.slice(colon).replace(/^\W+/, ""));
  const match = /^(.*?) ?\(([^()]*)\)$/.exec(said.trim());
  return { command: plainLabel(match?.[1] ?? said), environment: plainLabel(match?.[2] ?? "") || null, result };
}

/** Reads the environment verification matrix: one row for each check in each environment. */
function matrixOf(sections: Sections): readonly ReadCommand[] {
  const rows = sections.get("matrix")?.rows ?? sections.get("commands")?.rows ?? [];
  const head = (rows[0] ?? []).map((cell) => cell.toLowerCase());
  const column = (...names: readonly string[]): number => head.findIndex((cell) => names.includes(cell));
  const [check, environment] = [column("check", "command"), column("environment", "env")];
  const [exit, result] = [column("exit code", "exit"), column("result", "status")];
  if (check < 0) return [];
  return rows.slice(1).map((row) => ({
    command: row[check] ?? "",
    environment: row[environment] || null,
    result: row[result] || (row[exit] ? `exit ${row[exit]}` : ""),
  }));
}

/** Reads the command of INFRA_BLOCKED that could not run, its environment, and its output. */
function commandOf(sections: Sections): readonly ReadCommand[] {
  const command = textOf(sections, "command");
  const environment = textOf(sections, "environment");
  if (command === null) return environment === null ? [] : [{ command: "", environment, result: "" }];
  return [{ command: plainLabel(command), environment, result: textOf(sections, "output") ?? "" }];
}

/** Reads the category: on its own line, before the blocker, or in brackets anywhere in the blocker. */
function incompleteOf(sections: Sections): ReadIncomplete {
  const blocker = textOf(sections, "blocker") ?? "";
  const before = LEADING_CATEGORY.exec(blocker);
  const leading = incompleteCategory(before?.[1] ?? null);
  const bracketed = incompleteCategory(/[[(]([a-z_ -]{5,30})[\])]/i.exec(blocker)?.[1] ?? null);
  const rest = leading === null ? "" : blocker.slice(before![0].length).trim();
  return {
    category: incompleteCategory(plainLabel(textOf(sections, "category") ?? "")) ?? leading ?? bracketed,
    blocker: rest === "" ? blocker : rest,
    attempted: itemsOf(sections, "attempted"),
    needed: textOf(sections, "needed") ?? "",
  };
}

const LEADING_CATEGORY = /^[[(`*]{0,4}([a-z]{1,20}(?:[_ -][a-z]{1,20}){0,2})[\])`*]{0,4}(?: ?[–—:-] ?| |\n|$)/i;

function unique(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== null && name !== ""))] as string[];
}
