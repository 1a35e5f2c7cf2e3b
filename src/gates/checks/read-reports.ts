import { lstat, readFile, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { readTestReport } from "../../parse/tests/test-report.ts";
import type { TestReport } from "../../parse/tests/test-report-parts.ts";
import { matchesGlob } from "../../stdx/glob.ts";
import type { GateRequest } from "../../ports/gate.ts";
import { createLineRedactor, ownRedactor } from "../../adapters/process/own-secrets.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { textOutside } from "../../adapters/process/mounted-folder.ts";

/** The report files of one judgement: which of them checks wrote, and what they say. */
export interface SeenReports {
  before(): Promise<ReportBaseline>;
  /** Returns the reports that were written since a moment, each only once. */
  since(moment: ReportBaseline): Promise<readonly TestReport[]>;
  /** Returns why reports prove nothing, after all checks have run; empty if all are fine. */
  problems(): Promise<readonly string[]>;
}

/** The files at a moment. */
export interface ReportBaseline {
  readonly at: number;
  readonly stamps: ReadonlyMap<string, string>;
}

/**
 * Reads files below `root` that match the patterns. No user file is deleted: a file counts as written by a check if it
 * changed during the check, is not older than the check's start, and does not itself state an older time.
 */
export function seenReports(
  root: string,
  patterns: readonly string[],
  shown: Pick<ShownPaths, "root" | "text"> = { root, text: (text) => text },
): SeenReports {
  const fresh = new Set<string>();
  const unreadable = new Map<string, string>();
  const old = new Map<string, string>();

  async function read(file: FoundFile, moment: ReportBaseline): Promise<TestReport | null> {
    if (!isWrittenSince(file, moment)) {
      if (!fresh.has(file.path)) old.set(file.path, `it was written ${new Date(file.mtimeMs).toISOString()}`);
      return null;
    }
    const text = await textOf(root, file);
    const { report, problem } =
      typeof text === "string" ? readTestReport(shown.text(text), shown.root) : { report: null, ...text };
    if (report === null) {
      unreadable.set(file.path, problem);
      return null;
    }
    if (report.writtenAt !== null && report.writtenAt < moment.at - CLOCKS_DIFFER_MS) {
      old.set(file.path, `it says that it is of ${new Date(report.writtenAt).toISOString()}`);
      return null;
    }
    fresh.add(file.path);
    unreadable.delete(file.path);
    return report;
  }

  return {
    before: () => momentIn(root, patterns),
    async since(moment) {
      const reports: TestReport[] = [];
      for (const file of await filesIn(root, patterns)) {
        const report = await read(file, moment);
        if (report !== null) reports.push(report);
      }
      return reports;
    },
    async problems() {
      const there = await filesIn(root, patterns);
      const missing = patterns.flatMap((pattern) => {
        const matching = there.filter(({ path }) => matchesGlob(path, pattern));
        if (matching.some(({ path }) => fresh.has(path) || unreadable.has(path))) return [];
        const stale = matching.find(({ path }) => old.has(path));
        if (stale === undefined) return [`no check left a report that is called ${pattern}`];
        return [`the report ${stale.path} is older than the run: ${old.get(stale.path)}`];
      });
      return [...[...unreadable].map(([path, why]) => `the report ${path} cannot be read: ${why}`), ...missing];
    },
  };
}

export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly stamp: string;
}

export async function momentIn(root: string, patterns: readonly string[]): Promise<ReportBaseline> {
  return momentOf(await filesIn(root, patterns));
}

/** Returns the current moment with the state of these files. */
export function momentOf(files: readonly FoundFile[]): ReportBaseline {
  return { at: Date.now(), stamps: new Map(files.map(({ path, stamp }) => [path, stamp])) };
}

/**
 * Whether a file was written since a moment, and not only copied with an older date. Some disks store times in whole
 * seconds.
 */
export function isWrittenSince({ path, mtimeMs, stamp }: FoundFile, { at, stamps }: ReportBaseline): boolean {
  return stamps.get(path) !== stamp && mtimeMs >= Math.floor(at / 1000) * 1000;
}

/** How far a remote machine's clock, whose time is in a report, may differ. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/** Returns the text, or why it cannot be read. */
export async function textOf(
  root: string,
  { path, size }: FoundFile,
  mostBytes = MOST_BYTES,
): Promise<string | { readonly problem: string }> {
  if (size > mostBytes) return { problem: `it is larger than ${mostBytes / 1024 / 1024} MB` };
  try {
    return ownRedactor().text(await readFile(resolve(root, path), "utf8"));
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const MOST_BYTES = 32 * 1024 * 1024;
const MOST_ENTRIES = 50_000;
const DEEPEST = 20;

/** Returns a file's state; `null` if it does not exist or was removed meanwhile. */
export async function fileAt(root: string, path: string): Promise<FoundFile | null> {
  const stat = await lstat(resolve(root, path)).catch(() => null);
  if (stat === null || !stat.isFile()) return null;
  const stamp = `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`;
  return { path, size: stat.size, mtimeMs: stat.mtimeMs, stamp };
}

/** Returns the plain files that match, sorted by name. Links are skipped, because they could lead anywhere. */
export async function filesIn(root: string, patterns: readonly string[]): Promise<readonly FoundFile[]> {
  const found = new Map<string, FoundFile>();
  let left = MOST_ENTRIES;
  async function walk(folder: string, pattern: string, depth: number): Promise<void> {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (left-- <= 0) return;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && depth < DEEPEST && !isPassedOver(entry.name, path, pattern))
        await walk(path, pattern, depth + 1);
      if (!entry.isFile() || found.has(path) || !matchesGlob(path, pattern)) continue;
      const file = await fileAt(root, path);
      if (file !== null) found.set(path, file);
    }
  }
  for (const pattern of patterns) {
    const plain = pattern.replace(/^(?:\.\/)+/, "");
    await walk(plainFolder(plain), plain, 0);
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns a pattern's folders before the first star; files outside of them cannot match. */
function plainFolder(pattern: string): string {
  const folders = pattern.split("/").slice(0, -1);
  const star = folders.findIndex((folder) => /[*?{}]|^\.\.$/.test(folder));
  return (star === -1 ? folders : folders.slice(0, star)).join("/");
}

/** Whether to skip a folder: those with very many files and no reports, unless the pattern names them. */
const isPassedOver = (name: string, path: string, pattern: string): boolean =>
  [".git", ".remand", "node_modules", ".venv"].includes(name) && !pattern.startsWith(`${path}/`);

/**
 * Makes the output of checks presentable: files are named as in the author's folder, not as in a clean checkout, and
 * secrets are redacted before a text is cut, parsed or compared.
 */
export interface ShownPaths {
  /** The folder that paths are relative to. */
  readonly root: string;
  text(text: string): string;
  /** For a stream: passes each line on in its presentable form. */
  lines(onLine: (line: string) => void): (line: string) => void;
  ended(ended: ProcessResult): ProcessResult;
}

export function shownPaths({ path, workedIn }: Pick<GateRequest, "path" | "workedIn">): ShownPaths {
  let [from, to] = [path, workedIn ?? path];
  // The project may be a folder of the repository; then files outside of that folder are renamed too.
  if (from !== to)
    while (basename(from) === basename(to) && basename(from) !== "") [from, to] = [dirname(from), dirname(to)];
  const named = (printed: string): string => {
    const outside = textOutside(printed, path);
    return from === to ? outside : outside.replaceAll(from, to);
  };
  const text = (printed: string): string => ownRedactor().text(named(printed));
  return {
    root: workedIn ?? path,
    text,
    lines: (onLine) => {
      const redactLine = createLineRedactor();
      return (line) => onLine(redactLine(named(line)));
    },
    ended: (ended) => ({
      ...ended,
      output: text(ended.output),
      stdout: text(ended.stdout),
      stderr: text(ended.stderr),
    }),
  };
}
