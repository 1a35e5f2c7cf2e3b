import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { compileModule } from "../journal-process/compiled.ts";
import { lines } from "../../contract/journal.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

const KILLS = 6;
const WRITERS = 3;
let server: PostgresServer;
let writer: ReturnType<typeof compileModule>;
let folder: string;
beforeAll(async () => {
  server = await startPostgres();
  writer = compileModule(new URL("../journal-process/writer.ts", import.meta.url));
  folder = mkdtempSync(join(tmpdir(), "remand-postgres-kill-"));
});
afterAll(async () => {
  await server.stop();
  writer?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a writer whose acknowledgements go to a file, because a pipe could lose some with the process. */
async function killedWriter(url: string, name: string): Promise<number | null> {
  const out = join(folder, name);
  const fd = openSync(out, "a");
  const child = spawn(process.execPath, [writer.program, url, name, "8"], { stdio: ["ignore", fd, "inherit"] });
  closeSync(fd);
  const ended = once(child, "exit") as Promise<[number | null]>;
  const before = statSync(out).size;
  while (child.exitCode === null && statSync(out).size === before) await sleep(5);
  await sleep(Math.random() * 200);
  child.kill("SIGKILL");
  return (await ended)[0];
}

test("writers killed at random on a crashing server lose and duplicate nothing", async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = Array.from({ length: WRITERS }, (_, i) => killedWriter(server.url, `w${i}`));
    if (kill % 2 === 1) await server.restart("immediate");
    // A writer that exited by itself has failed, and printed why.
    expect(await Promise.all(killed)).toEqual(Array.from({ length: WRITERS }, () => null));
  }
  const journal = await createPostgresJournal(server.url);
  const hashes = new Map((await lines(journal)).map((line) => [line.position, line.hash]));
  const said = Array.from({ length: WRITERS }, (_, i) => readFileSync(join(folder, `w${i}`), "utf8").trimEnd()).join(
    "\n",
  );
  // A kill while printing leaves half a line, which is not acknowledged.
  const acknowledged = said.split("\n").filter((line) => /^\d+ [0-9a-f]{64}$/.test(line));
  expect(acknowledged.length).toBeGreaterThan(KILLS * WRITERS);
  const wrong = acknowledged.filter((line) => hashes.get(Number(line.split(" ")[0])) !== line.split(" ")[1]);
  expect(wrong).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(await journal.verify()).toMatchObject({ ok: true, head: { position: hashes.size } });
  await journal.close();
});
