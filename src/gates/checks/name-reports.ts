import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LineCoverage } from "../../core/blame/change.ts";
import { type NameReport, type ReportedTest, readLineCounts, readNameReport } from "../../parse/tests/test-names.ts";
import type { Environment } from "../../adapters/process/environment.ts";
import { ownRedactor } from "../../adapters/process/own-secrets.ts";
import { runProcess } from "../../adapters/process/run-process.ts";
import { makeTempFolder } from "../../adapters/process/temp-folders.ts";
import { pathInside } from "../../adapters/process/mounted-folder.ts";
import { readJunit } from "../../parse/tests/junit.ts";
import { filesIn, isWrittenSince, momentOf, textOf } from "./read-reports.ts";

/** The reports of one check's test runners, with the names of tests. */
export interface NameReports {
  /** The folder for the runners' reports. */
  readonly folder: string;
  /** The user's environment plus the variables that make runners report. */
  readonly env: Environment;
  /** Reads the reports after the check has ended, and deletes them. */
  read(): Promise<ReadReports>;
}

interface ReadReports {
  readonly reports: readonly NameReport[];
  readonly folders: readonly string[];
  readonly coverage: readonly LineCoverage[];
}

/** The folder of the reporters, which test runners load and this program does not. */
const REPORTERS = ["../../../reporters", "../../../../reporters"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((folder, at, all) => at === all.length - 1 || existsSync(folder))!;

/**
 * Makes a folder for the reports of one run of a check in `path`. `counted`: lines whose execution runners should
 * count.
 */
export async function openNameReports(
  env: Environment,
  path: string,
  counted?: ReadonlyMap<string, readonly number[]>,
): Promise<NameReports> {
  const [folder, java, isSupported] = await Promise.all([
    makeTempFolder("remand-names-"),
    javaReports(path),
    supportsReporters(env),
  ]);
  const programs = process.platform === "win32" ? null : await linkPythonPrograms(folder, env["PATH"] ?? "");
  const counting = counted === undefined ? {} : { REMAND_COVERAGE: await writeCounted(folder, path, counted) };
  return {
    env: { ...reportingEnvironment(env, folder, isSupported, programs), ...counting },
    folder,
    read: () => readAndDelete(folder, path, java),
  };
}

async function writeCounted(
  folder: string,
  path: string,
  counted: ReadonlyMap<string, readonly number[]>,
): Promise<string> {
  const file = join(folder, "counted.json");
  await writeFile(file, JSON.stringify({ roots: await rootsOf(path), files: Object.fromEntries(counted) }));
  return file;
}

/** Returns the paths by which programs may know a check's folder. */
const rootsOf = async (path: string): Promise<string[]> => [
  ...new Set([path, await realpath(path).catch(() => path), pathInside(path)]),
];

async function readAndDelete(folder: string, path: string, java: JavaReports): Promise<ReadReports> {
  try {
    const reports: NameReport[] = [];
    const counts: LineCoverage[] = [];
    for (const name of (await readdir(folder)).sort())
      if (name.endsWith(".jsonl"))
        reports.push(readNameReport(ownRedactor().text(await readFile(join(folder, name), "utf8"))));
      else if (name.startsWith("coverage-")) counts.push(...readLineCounts(await readFile(join(folder, name), "utf8")));
    return { reports: [...reports, ...(await java.read())], folders: await rootsOf(path), coverage: sumOf(counts) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Adds up counts: several processes of a runner may have run the same lines for different tests. */
function sumOf(counts: readonly LineCoverage[]): LineCoverage[] {
  const sums = new Map<string, LineCoverage>();
  for (const { file, line, failed, passed } of counts) {
    const before = sums.get(`${line}:${file}`) ?? { failed: 0, passed: 0 };
    sums.set(`${line}:${file}`, { file, line, failed: before.failed + failed, passed: before.passed + passed });
  }
  return [...sums.values()];
}

/**
 * Links scripts that keep the reporters in PYTHONPATH when a command sets its own. Only for existing programs, because
 * a command may check which ones exist.
 */
async function linkPythonPrograms(folder: string, path: string): Promise<string> {
  const programs = join(folder, "bin");
  await mkdir(programs);
  const folders = path.split(delimiter).filter(isAbsolute);
  for (const name of PYTHON_PROGRAMS)
    if (folders.some((each) => existsSync(join(each, name))))
      await symlink(join(REPORTERS, "python-program.sh"), join(programs, name));
  return programs;
}

const PYTHON_PROGRAMS = ["python", "python3", "pytest"];

/**
 * Extends the user's variables, and never replaces them. GOFLAGS is not used, because it would also change `go vet` and
 * `go list`.
 */
function reportingEnvironment(
  env: Environment,
  folder: string,
  supportsNodeReporter: boolean,
  programs: string | null,
): Environment {
  const node = env["NODE_OPTIONS"] ?? "";
  const reporter =
    supportsNodeReporter && !node.includes("--test-reporter")
      ? [`--test-reporter=${quotePath(join(REPORTERS, "node-test.mjs"))}`]
      : [];
  const path = env["PATH"] ?? env["Path"] ?? "";
  return {
    ...env,
    REMAND_TEST_NAMES: folder,
    REMAND_NODE: process.execPath,
    NODE_OPTIONS: joinNonEmpty(" ", node, `--require=${quotePath(join(REPORTERS, "node-preload.cjs"))}`, ...reporter),
    PYTHONPATH: joinNonEmpty(delimiter, join(REPORTERS, "python"), env["PYTHONPATH"] ?? ""),
    // These programs are shell scripts.
    ...(programs === null
      ? {}
      : { REMAND_REPORTERS: REPORTERS, PATH: joinNonEmpty(delimiter, programs, join(REPORTERS, "bin"), path) }),
  };
}

const joinNonEmpty = (mark: string, ...parts: readonly string[]): string =>
  parts.filter((part) => part !== "").join(mark);

const quotePath = (path: string): string =>
  /[\s"\\]/.test(path) ? `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : path;

const supported = new Map<string, Promise<boolean>>();

/**
 * Whether the Node on the PATH accepts the reporter's option; an old one refuses to start with it. Tested once per
 * PATH.
 */
function supportsReporters(env: Environment): Promise<boolean> {
  const key = `${env["PATH"] ?? ""}\n${env["NODE_OPTIONS"] ?? ""}`;
  if (!supported.has(key)) supported.set(key, probeNode(env));
  return supported.get(key)!;
}

async function probeNode(env: Environment): Promise<boolean> {
  const script = join(REPORTERS, "node-test.mjs");
  if (!existsSync(script)) return false;
  const ended = await runProcess(
    {
      command: ["node", "-e", "0"],
      cwd: tmpdir(),
      env: {
        ...env,
        NODE_OPTIONS: joinNonEmpty(" ", env["NODE_OPTIONS"] ?? "", `--test-reporter=${quotePath(script)}`),
      },
      timeoutMs: PROBE_MS,
      sandbox: null,
      survivors: "spare",
    },
    {},
  );
  return ended.status === "exited" && ended.exitCode === 0;
}

const PROBE_MS = 20_000;

/** Reports that Maven and Gradle write by themselves. */
export interface JavaReports {
  /** Returns the reports that were written since this was opened. */
  read(): Promise<readonly NameReport[]>;
}

const MAVEN = ["**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"];
const GRADLE = ["**/build/test-results/**/TEST-*.xml"];

export async function javaReports(root: string): Promise<JavaReports> {
  const has = (...names: readonly string[]): boolean => names.some((name) => existsSync(join(root, name)));
  const kinds = [
    { runner: "maven", patterns: has("pom.xml") ? MAVEN : [] },
    { runner: "gradle", patterns: has(...GRADLE_FILES) ? GRADLE : [] },
  ].filter(({ patterns }) => patterns.length > 0);
  if (kinds.length === 0) return { read: () => Promise.resolve([]) };
  const began = momentOf(
    await filesIn(
      root,
      kinds.flatMap(({ patterns }) => patterns),
    ),
  );
  return {
    async read() {
      const reports: NameReport[] = [];
      for (const { runner, patterns } of kinds)
        for (const file of await filesIn(root, patterns)) {
          if (!isWrittenSince(file, began)) continue;
          const text = await textOf(root, file);
          reports.push(typeof text === "string" ? reportOf(text, runner, root, file.path) : incompleteReport(runner));
        }
      return reports;
    },
  };
}

const GRADLE_FILES = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];

const incompleteReport = (runner: string): NameReport => ({ runner, tests: [], isComplete: false });

/** Reads the file of one test class. It is written after the class's tests, so a readable file is complete. */
function reportOf(text: string, runner: string, root: string, path: string): NameReport {
  const { report } = readJunit(text);
  if (report === null) return incompleteReport(runner);
  const folder = join(root, dirname(path).replace(/(?:^|\/)(?:target\/\w+-reports|build\/test-results(?:\/.*)?)$/, ""));
  const reportedTest = (outcome: ReportedTest["outcome"], test: string): ReportedTest => {
    const [type = "", ...rest] = test.split(" > ");
    const method = rest.join(" > ").replace(/\(\)$/, "");
    const simple = type.slice(type.lastIndexOf(".") + 1);
    return {
      outcome,
      name: method === "" ? simple : `${simple} > ${method}`,
      file: sourceOf(folder, type),
      package: type,
    };
  };
  return {
    runner,
    isComplete: true,
    tests: [
      ...(report.passed ?? []).map(({ test }) => reportedTest("passed", test)),
      ...(report.skipped ?? []).map(({ test }) => reportedTest("skipped", test)),
      ...report.failures.map(({ test }) => reportedTest("failed", test ?? "")),
    ],
  };
}

/** Returns the source file of a class; a nested class is in the file of the outer one. */
function sourceOf(folder: string, type: string): string | null {
  const path = type.replace(/\$.*/, "").replaceAll(".", "/");
  for (const language of ["java", "kotlin", "groovy", "scala"])
    for (const set of ["test", "integrationTest", "it"]) {
      const file = join(folder, "src", set, language, `${path}.${ENDINGS[language]}`);
      if (existsSync(file)) return file;
    }
  return null;
}

const ENDINGS: Readonly<Record<string, string>> = { java: "java", kotlin: "kt", groovy: "groovy", scala: "scala" };
