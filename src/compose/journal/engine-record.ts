import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootId } from "../../adapters/process/ancestry.ts";
import { processEntry } from "../../adapters/process/process-table.ts";
import { isRecord } from "../../stdx/assert.ts";
import { stateFolder } from "../state-folder.ts";

/** The engine that works in a checkout, or the last one that did. */
export interface EngineRecord {
  readonly pid: number;
  readonly startedAt: number;
  readonly boot: string;
  /** The process namespace, in which `pid` is valid. */
  readonly namespace: string;
  readonly controlGroups: string | null;
  /**
   * The marks of engines above the one that started this journal. A test suite that a check runs may start a journal of
   * its own and answer there, so marks above both are no reason to refuse.
   */
  readonly above: readonly string[];
  /** The folder of its user's state with the token, so that a speaking process cannot choose another one. */
  readonly userState: string | null;
}

export const NO_ENGINE: EngineRecord = {
  pid: 0,
  startedAt: 0,
  boot: "",
  namespace: "",
  controlGroups: null,
  above: [],
  userState: null,
};

const fileIn = (root: string): string => join(stateFolder(root).path, "engine.json");
const folderIn = (userState: string): string => join(userState, "engines");

/** `null` where there is no record of an engine, or it cannot be read: then only the marks tell. */
export async function readEngineRecord(root: string): Promise<EngineRecord | null> {
  return readRecord(fileIn(root));
}

/** Records an engine in its checkout, and among the engines of its user. */
export async function writeEngineRecord(root: string, userState: string, record: EngineRecord): Promise<void> {
  const text = `${JSON.stringify({ schema: "remand.engine/1", ...record })}\n`;
  await mkdir(stateFolder(root).path, { recursive: true });
  await replaceFile(fileIn(root), text);
  await mkdir(folderIn(userState), { recursive: true, mode: 0o700 });
  for (const file of await recordFiles(userState)) {
    const known = await readRecord(file);
    const isHere = known === null || known.namespace === record.namespace || known.boot !== record.boot;
    if (isHere && (known === null || !isRunning(known))) await rm(file, { force: true });
  }
  await replaceFile(join(folderIn(userState), `${record.pid}-${record.startedAt}.json`), text);
}

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The engines of a user that are running, and at least the last one since the machine started. */
export async function enginesOf(userState: string): Promise<readonly EngineRecord[]> {
  const records = await Promise.all((await recordFiles(userState)).map(readRecord));
  return records.filter((each) => each !== null).filter(({ boot }) => boot === bootId());
}

async function recordFiles(userState: string): Promise<readonly string[]> {
  const names = await readdir(folderIn(userState)).catch(() => []);
  return names.filter((name) => name.endsWith(".json")).map((name) => join(folderIn(userState), name));
}

/** Whether the engine is running. Without /proc, any process with its pid counts as the engine. */
export function isRunning({ pid, startedAt, boot }: EngineRecord): boolean {
  if (boot !== bootId()) return false;
  const entry = processEntry(pid);
  if (entry !== null) return Number(entry.startTicks) === startedAt;
  if (boot !== "") return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function readRecord(file: string): Promise<EngineRecord | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value["pid"] !== "number" || typeof value["startedAt"] !== "number") return null;
    const { pid, startedAt, boot, namespace, controlGroups, above, userState } = value;
    return {
      pid,
      startedAt,
      boot: String(boot),
      namespace: typeof namespace === "string" ? namespace : "",
      controlGroups: typeof controlGroups === "string" ? controlGroups : null,
      above: Array.isArray(above) ? above.map(String) : [],
      userState: typeof userState === "string" ? userState : null,
    };
  } catch {
    return null;
  }
}
