import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, openSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSqliteJournal, openJournalReadOnly } from "../../src/adapters/journal/sqlite-journal.ts";
import { lines } from "../contract/journal.ts";
import { compiled } from "./journal-process/compiled.ts";

const KILLS = 15;
let writer: ReturnType<typeof compiled>;
let folder: string;

beforeAll(() => {
  writer = compiled(new URL("./journal-process/writer.ts", import.meta.url));
  folder = mkdtempSync(join(tmpdir(), "remand-kill-"));
});
afterAll(() => {
  writer?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A writer whose acknowledgements go to a file, as a pipe could lose some with the process. */
function start(file: string, name: string, streams: number, out: string): Promise<number | null> {
  const fd = openSync(out, "a");
  const child: ChildProcess = spawn(process.execPath, [writer.program, file, name, String(streams)], {
    stdio: ["ignore", fd, "inherit"],
  });
  closeSync(fd);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  // Around the start, the first commits and the middle of the work.
  setTimeout(() => child.kill("SIGKILL"), 60 + Math.random() * 240);
  return ended;
}

describe.each([1, 2])("%i writing processes, killed at random", (writers) => {
  test("no acknowledged line is lost, none is twice, and the chain is whole", { timeout: 110_000 }, async () => {
    const file = join(folder, `killed-${writers}.db`);
    const out = join(folder, `acknowledged-${writers}`);
    let rounds = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const codes = await Promise.all(Array.from({ length: writers }, (_, i) => start(file, `w${i}`, 8, out)));
      // A writer that ended by itself has failed, and said why.
      expect(codes).toEqual(codes.map(() => null));
      rounds++;
    }
    expect(rounds).toBe(KILLS);
    const reader = await openJournalReadOnly(file);
    const hashes = new Map((await lines(reader)).map((line) => [line.position, line.hash]));
    const acknowledged = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" "));
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
