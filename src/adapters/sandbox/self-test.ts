import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Protection } from "../../core/events/isolation.ts";
import { runProcess } from "../process/run-process.ts";
import { commandLineOf, processTable } from "../process/process-table.ts";
import type { PathRule } from "./path-rules.ts";

/** A sandbox with these rules for what the test makes. */
export type SandboxWith = (rules: readonly PathRule[]) => Sandbox;

export interface SelfTest {
  readonly held: readonly Protection[];
  /** Why it cannot be used; `null` where it can. */
  readonly problem: string | null;
}

/**
 * Finds out what a sandbox keeps from a program on this machine, by a program that tries it. One that does not start, or
 * that lets a file be read or written which it should not, is of no use.
 */
export async function testSandbox(sandboxWith: SandboxWith, folder: string): Promise<SelfTest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(folder, "try-"));
  try {
    return await tryAll(sandboxWith, place);
  } finally {
    // A process that got away still writes there.
    await rm(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

async function tryAll(sandboxWith: SandboxWith, place: string): Promise<SelfTest> {
  const at = (name: string): string => join(place, name);
  const [secret, name] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
  for (const name of ["outside", "hidden", "copy", "work"]) await mkdir(at(name));
  for (const name of ["outside/file", "hidden/file", "copy/file"]) await writeFile(at(name), `${secret}\n`);
  const sandbox = sandboxWith([
    { path: at("outside"), kind: "read" },
    { path: at("hidden"), kind: "hidden" },
    { path: at("copy"), kind: "copy" },
  ]);
  const ended = await runProcess({
    command: ["/bin/sh", "-c", ATTEMPTS, "sh", place, `${process.pid}`, name],
    cwd: at("work"),
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: at("work") },
    sandbox,
    timeoutMs: 20_000,
  });
  const report = await readFile(at("work/report"), "utf8").catch(() => "");
  if (!report.includes("end")) {
    const said = ended.failure?.message ?? ended.output.trim().split("\n").at(-1) ?? "";
    return { held: [], problem: said === "" ? "a program in it wrote nothing" : said };
  }
  const broken: string[] = [];
  if ((await readFile(at("outside/file"), "utf8")) !== `${secret}\n`) broken.push("wrote outside of its folder");
  if (report.includes(secret)) broken.push("read a hidden file");
  if ((await readFile(at("copy/file"), "utf8")) !== `${secret}\n`) broken.push("wrote through a copy");
  if (sandbox.level.kind === "bubblewrap" && !report.includes("copied")) broken.push("could not write to a copy");
  if (broken.length > 0) return { held: [], problem: `a program in it ${broken.join(", and ")}` };
  const hasOrphan = await outlived(name, at("work/orphan"));
  const seesEngine = report.includes("sees the engine");
  return { held: ["files", ...(hasOrphan || seesEngine ? [] : (["processes"] as const))], problem: null };
}

const ATTEMPTS = `
cd "$1/work"
echo broken > "$1/outside/file"
cat "$1/hidden/file" >> report
echo changed > "$1/copy/file" && grep -q changed "$1/copy/file" && echo copied >> report
{ [ -r "/proc/$2/environ" ] && kill -0 "$2" && grep -q node "/proc/$2/cmdline"; } && echo sees the engine >> report
setsid env -i /bin/sh -c 'i=0; while [ $i -lt 100 ]; do echo >> orphan; sleep 0.05; i=$((i + 1)); done' "$3" > /dev/null 2>&1 &
while [ ! -s orphan ]; do sleep 0.01; done
echo end >> report
`;

/** Does the process that the program left behind still run? */
async function outlived(name: string, file: string): Promise<boolean> {
  const table = await processTable();
  if (table !== null) return table.some(({ pid }) => commandLineOf(pid).includes(name));
  const sizeOf = async (): Promise<number> => (await readFile(file)).length;
  const before = await sizeOf();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return (await sizeOf()) > before;
}
