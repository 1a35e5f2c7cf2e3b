import { asCount, asRecord } from "./test-report-parts.ts";
import { readXml } from "./junit.ts";

/** How many lines or branches there are, and how many were reached. */
export interface CoverageCount {
  readonly covered: number;
  readonly total: number;
}

export type ReadCoverage =
  | { readonly lines: CoverageCount; readonly branches: CoverageCount | null; readonly problem: null }
  | { readonly lines: null; readonly problem: string };

/** Reads lcov's tracefile, Cobertura's XML, or Istanbul's `coverage-summary.json`, according to the content. */
export function readCoverage(text: string): ReadCoverage {
  const start = text.replace(/^\uFEFF/, "").trimStart();
  if (start === "") return { lines: null, problem: "it is empty" };
  const read = start.startsWith("<") ? cobertura(start) : start.startsWith("{") ? istanbul(start) : lcov(start);
  if (read.lines !== null && read.lines.total === 0)
    return { lines: null, problem: "it counts not a single line, so that it says nothing about the code" };
  return read;
}

/**
 * Reads lcov: `SF:` begins a file and `end_of_record` ends it. Uses the sums if they are given, and otherwise counts
 * lines.
 */
function lcov(text: string): ReadCoverage {
  const sum = { lines: { covered: 0, total: 0 }, branches: { covered: 0, total: 0 } };
  let file = newFile();
  let records = 0;
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, Math.min(end === -1 ? text.length : end, from + 300)).trimEnd();
    from = end === -1 ? text.length : end + 1;
    const sums = /^(LF|LH|BRF|BRH):(\d{1,9})$/.exec(line);
    if (sums !== null) file.said[sums[1] as keyof typeof file.said] = Number(sums[2]);
    else if (line.startsWith("DA:")) {
      file.lines.total++;
      if (/^DA:\d+,0*[1-9]/.test(line)) file.lines.covered++;
    } else if (line.startsWith("BRDA:")) {
      file.branches.total++;
      if (/,0*[1-9]\d*$/.test(line)) file.branches.covered++;
    } else if (line === "end_of_record") {
      records++;
      add(sum.lines, { covered: file.said.LH ?? file.lines.covered, total: file.said.LF ?? file.lines.total });
      add(sum.branches, {
        covered: file.said.BRH ?? file.branches.covered,
        total: file.said.BRF ?? file.branches.total,
      });
      file = newFile();
    }
  }
  if (records === 0) return { lines: null, problem: "it is neither lcov nor Cobertura nor a summary of Istanbul's" };
  return { lines: sum.lines, branches: sum.branches.total === 0 ? null : sum.branches, problem: null };
}

interface LcovFile {
  readonly said: { LF?: number; LH?: number; BRF?: number; BRH?: number };
  readonly lines: { covered: number; total: number };
  readonly branches: { covered: number; total: number };
}

const newFile = (): LcovFile => ({ said: {}, lines: { covered: 0, total: 0 }, branches: { covered: 0, total: 0 } });

function add(sum: { covered: number; total: number }, { covered, total }: CoverageCount): void {
  sum.covered += Math.min(covered, total);
  sum.total += total;
}

/**
 * Reads Cobertura: the root's totals if given; otherwise it counts each `<line>` of a class, with its
 * `condition-coverage`.
 */
function cobertura(text: string): ReadCoverage {
  const lines = { covered: 0, total: 0 };
  const branches = { covered: 0, total: 0 };
  const said: { root: string | null; lines: CoverageCount | null; branches: CoverageCount | null } = {
    root: null,
    lines: null,
    branches: null,
  };
  let inMethods = 0;
  const problem = readXml(text, {
    open(name, attributes) {
      const number = (key: string): number | null =>
        /^\d{1,9}$/.test(attributes.get(key) ?? "") ? Number(attributes.get(key)) : null;
      if (said.root === null) {
        said.root = name;
        said.lines = both(number("lines-covered"), number("lines-valid"));
        said.branches = both(number("branches-covered"), number("branches-valid"));
      }
      if (name === "methods") inMethods++;
      // A method's lines are listed again in its class.
      if (name !== "line" || inMethods > 0) return;
      add(lines, { covered: (number("hits") ?? 0) > 0 ? 1 : 0, total: 1 });
      const condition = /\((\d{1,6})\/(\d{1,6})\)/.exec(attributes.get("condition-coverage") ?? "");
      if (condition !== null) add(branches, { covered: Number(condition[1]), total: Number(condition[2]) });
    },
    text: () => undefined,
    close(name) {
      if (name === "methods") inMethods--;
    },
  });
  if (problem !== null) return { lines: null, problem };
  if (said.root !== "coverage") return { lines: null, problem: "it is XML, but not Cobertura's" };
  const reached = said.branches ?? branches;
  return { lines: said.lines ?? lines, branches: reached.total === 0 ? null : reached, problem: null };
}

const both = (covered: number | null, total: number | null): CoverageCount | null =>
  covered === null || total === null || total === 0 ? null : { covered: Math.min(covered, total), total };

function istanbul(text: string): ReadCoverage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { lines: null, problem: `it is no JSON: ${(error as Error).message.slice(0, 100)}` };
  }
  const total = asRecord(asRecord(value)["total"]);
  const part = (name: string): CoverageCount | null => {
    const { covered, total: all } = asRecord(total[name]);
    return both(asCount(covered), asCount(all));
  };
  const lines = part("lines");
  if (lines === null) return { lines: null, problem: "it is JSON, but no summary of Istanbul's with lines in it" };
  return { lines, branches: part("branches"), problem: null };
}
