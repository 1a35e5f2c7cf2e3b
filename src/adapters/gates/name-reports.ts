import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readNameReport, type NameReport } from "../../readers/test-names.ts";
import type { Environment } from "../process/environment.ts";
import { runProcess } from "../process/run-process.ts";
import { javaReports, type JavaReports } from "./java-reports.ts";

/** What the test runners of one check report, by name. */
export interface NameReports {
  /** The variables that make them report: the user's own, with ours added. */
  readonly env: Environment;
  /** What was reported, once the check has ended. It is deleted with that. */
  read(): Promise<{ readonly reports: readonly NameReport[]; readonly folders: readonly string[] }>;
}

/** The reporters, which are loaded by the test runners and not by this program. */
const REPORTERS = fileURLToPath(new URL("../../../reporters", import.meta.url));

/** Makes a folder for the reports of one run of a check in `path`. */
export async function openNameReports(env: Environment, path: string): Promise<NameReports> {
  const [folder, java, isSupported] = await Promise.all([
    mkdtemp(join(tmpdir(), "remand-names-")),
    javaReports(path),
    supportsReporters(env),
  ]);
  return {
    env: reportingEnvironment(env, folder, isSupported),
    read: () => readAndDelete(folder, path, java),
  };
}

async function readAndDelete(folder: string, path: string, java: JavaReports) {
  try {
    const reports: NameReport[] = [];
    for (const name of (await readdir(folder)).sort())
      if (name.endsWith(".jsonl")) reports.push(readNameReport(await readFile(join(folder, name), "utf8")));
    return { reports: [...reports, ...(await java.read())], folders: [path, await realpath(path).catch(() => path)] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Adds to what the user set, and never replaces it. GOFLAGS is left alone: it would change `go vet` and `go list` too. */
function reportingEnvironment(env: Environment, folder: string, supportsNodeReporter: boolean): Environment {
  const node = env["NODE_OPTIONS"] ?? "";
  const reporter =
    supportsNodeReporter && !node.includes("--test-reporter")
      ? [`--test-reporter=${quoted(join(REPORTERS, "node-test.mjs"))}`]
      : [];
  const path = env["PATH"] ?? env["Path"] ?? "";
  return {
    ...env,
    REMAND_TEST_NAMES: folder,
    REMAND_NODE: process.execPath,
    NODE_OPTIONS: joined(" ", node, `--require=${quoted(join(REPORTERS, "node-preload.cjs"))}`, ...reporter),
    PYTHONPATH: joined(delimiter, join(REPORTERS, "python"), env["PYTHONPATH"] ?? ""),
    // The programs there are scripts for a shell.
    ...(process.platform === "win32" ? {} : { PATH: joined(delimiter, join(REPORTERS, "bin"), path) }),
  };
}

const joined = (mark: string, ...parts: readonly string[]): string => parts.filter((part) => part !== "").join(mark);

const quoted = (path: string): string =>
  /[\s"\\]/.test(path) ? `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : path;

const supported = new Map<string, Promise<boolean>>();

/** An old Node refuses to start with an option that it does not know. Asked once for each PATH. */
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
      env: { ...env, NODE_OPTIONS: joined(" ", env["NODE_OPTIONS"] ?? "", `--test-reporter=${quoted(script)}`) },
      timeoutMs: PROBE_MS,
      survivors: "spare",
    },
    {},
  );
  return ended.status === "exited" && ended.exitCode === 0;
}

const PROBE_MS = 20_000;
