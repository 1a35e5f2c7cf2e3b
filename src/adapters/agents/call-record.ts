import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scriptedCallsSchema, type ScriptedCalls } from "../../schemas/agent-script.ts";
import { messageOf } from "./failed-result.ts";

/**
 * How often a story's role was called, kept on disk. A call is counted when it has ended: one that was killed on the
 * way is played again under its next key. The same key always means the same call, however often it is asked.
 */
export interface CallRecord {
  begin(key: string): Promise<{ readonly entry: number; readonly again: boolean }>;
  finish(key: string): Promise<void>;
}

export function createCallRecord(folder: string, story: string, role: string): CallRecord {
  const file = join(folder, `${createHash("sha256").update(`${story}\0${role}`).digest("hex").slice(0, 32)}.json`);

  const read = async (): Promise<ScriptedCalls["calls"]> => {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    });
    if (text === null) return [];
    try {
      return scriptedCallsSchema.parse(JSON.parse(text)).calls;
    } catch (error) {
      throw new Error(`${file} does not hold a record of calls (remove it to start over): ${messageOf(error)}`, {
        cause: error,
      });
    }
  };
  const write = async (calls: ScriptedCalls["calls"]): Promise<void> => {
    await mkdir(folder, { recursive: true });
    const beside = `${file}.${process.pid}.new`;
    await writeFile(beside, JSON.stringify({ story, role, calls } satisfies ScriptedCalls));
    await rename(beside, file);
  };

  return {
    async begin(key) {
      const calls = await read();
      const known = calls.find((call) => call.key === key);
      if (known !== undefined) return { entry: known.entry, again: true };
      const entry = calls.filter((call) => call.done).length;
      const again = calls.some((call) => !call.done && call.entry === entry);
      await write([...calls, { key, entry, done: false }]);
      return { entry, again };
    },
    async finish(key) {
      const calls = await read();
      await write(calls.map((call) => (call.key === key ? { ...call, done: true } : call)));
    },
  };
}
