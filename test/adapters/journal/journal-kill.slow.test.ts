import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, openSync, closeSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSqliteJournal, openJournalReadOnly } from "../../../src/adapters/journal/sqlite-journal.ts";
import { lines } from "../../contract/journal.ts";
import { compileModule } from "../journal-process/compiled.ts";

const KILLS = 15;
let writer: ReturnType<typeof compileModule>;
let folder: string;

beforeAll(() => {
  writer = compileModule(new URL("../journal-process/writer.ts", import.meta.url));
  folder = mkdtempSync(join(tmpdir(), "remand-kill-"));
});
afterAll(() => {
  writer?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a writer whose acknowledgements go to a file, because a pipe could lose some with the process. */
async function killedWriter(file: string, name: string, out: string, kill: number): Promise<number | null> {
  const fd = openSync(out, "a");
  const child = spawn(process.execPath, [writer.program, file, name, "8"], { stdio: ["ignore", fd, "inherit"] });
  closeSync(fd);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  // Every third is killed while it starts, the others after their first write, however slow the machine is.
  const before = statSync(out).size;
  while (kill % 3 !== 0 && child.exitCode === null && statSync(out).size === before) await pause(2);
  await pause(Math.random() * 120);
  child.kill("SIGKILL");
  return ended;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each([1, 2])("%i writing processes, killed at random", (writers) => {
  test("no acknowledged line is lost or duplicated, and the chain is intact", async () => {
    const file = join(folder, `killed-${writers}.db`);
    const out = join(folder, `acknowledged-${writers}`);
    let rounds = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const codes = await Promise.all(
        Array.from({ length: writers }, (_, i) => killedWriter(file, `w${i}`, out, kill)),
      );
      // A writer that exited by itself has failed, and printed why.
      expect(codes).toEqual(codes.map(() => null));
      rounds++;
    }
    expect(rounds).toBe(KILLS);
    const reader = await openJournalReadOnly(file);
    const hashes = new Map((await lines(reader)).map((line) => [line.position, line.hash]));
    const said = readFileSync(out, "utf8").trimEnd().split("\n");
    // A kill while printing leaves half a line, joined with the next writer's: it is not acknowledged.
    const whole = said.filter((line) => /^\d+ [0-9a-f]{64}$/.test(line));
    expect(said.length - whole.length).toBeLessThanOrEqual(KILLS * writers);
    const acknowledged = whole.map((line) => line.split(" "));
    const lost = acknowledged.filter(([position, hash]) => hashes.get(Number(position)) !== hash);
    expect(lost).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(await reader.verify()).toMatchObject({ ok: true, head: { position: hashes.size } });
    await reader.close();
    const again = await createSqliteJournal(file);
    expect(await again.append(null, 0, [{ type: "run.resumed", by: "test" }], 1)).toMatchObject({ ok: true });
    await again.close();
  });
});
