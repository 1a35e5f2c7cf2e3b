import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  takeOwnership,
  type HeldLock,
  type Holder,
  type JournalOwner,
} from "../../../src/adapters/journal/ownership.ts";
import { compileModule } from "../journal-process/compiled.ts";

let program: ReturnType<typeof compileModule>;
let folder: string;
let file: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  program = compileModule(new URL("../journal-process/owner.ts", import.meta.url));
});
afterAll(() => program?.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-owner-"));
  file = join(folder, "journal.db");
});
afterEach(async () => {
  for (const child of children.splice(0)) await killed(child);
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process that takes the journal, and returns what it printed. */
async function taker(command: string): Promise<{ child: ChildProcess; said: { holder: Holder } | HeldLock }> {
  const child = spawn(process.execPath, [program.program, file, command], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.endsWith("\n")) break;
  }
  return { child, said: JSON.parse(text) as { holder: Holder } | HeldLock };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

function owned(taken: JournalOwner | HeldLock): JournalOwner {
  if ("heldBy" in taken) throw new Error(`held by ${JSON.stringify(taken.heldBy)}`);
  return taken;
}

test("the second process learns the owner's name, and a kill -9 frees the lock", async () => {
  const { child, said } = await taker("remand run");
  expect(said).toMatchObject({ holder: { pid: child.pid, host: hostname(), command: "remand run" } });
  const refused = await takeOwnership(file);
  expect(refused).toEqual({ heldBy: "holder" in said ? said.holder : null });
  await killed(child);
  expect(readdirSync(folder)).toContain("journal.db.owner");
  const owner = owned(await takeOwnership(file, "remand loop"));
  expect(JSON.parse(readFileSync(`${file}.owner`, "utf8"))).toMatchObject({ pid: process.pid, command: "remand loop" });
  expect(Math.abs(owner.holder.since - Date.now())).toBeLessThan(60_000);
  await owner.release();
});

test("of several processes that start at once, exactly one gets the lock", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, (_, i) => taker(`run ${i}`)));
  const holders = all.filter(({ said }) => "holder" in said);
  expect(holders).toHaveLength(1);
  const [winner] = holders;
  for (const { said } of all) if ("heldBy" in said) expect(said.heldBy?.pid).toBe(winner!.child.pid);
});

test("one process cannot take the lock twice, and can again after releasing it", async () => {
  const owner = owned(await takeOwnership(file));
  expect(await takeOwnership(file)).toMatchObject({ heldBy: { pid: process.pid } });
  await owner.release();
  await owner.release();
  expect(readdirSync(folder)).toEqual(["journal.db.lock"]);
  await owned(await takeOwnership(file)).release();
});

test("an owner without a note still holds the lock", async () => {
  const owner = owned(await takeOwnership(file));
  rmSync(`${file}.owner`);
  expect(await takeOwnership(file)).toEqual({ heldBy: null });
  writeFileSync(`${file}.owner`, "not json");
  expect(await takeOwnership(file)).toEqual({ heldBy: null });
  writeFileSync(`${file}.owner`, JSON.stringify({ pid: 1, host: "elsewhere", since: 5, command: "remand run" }));
  expect(await takeOwnership(file)).toMatchObject({ heldBy: { host: "elsewhere", since: 5 } });
  await owner.release();
});

test("an error says so if no file can be created", async () => {
  writeFileSync(join(folder, "plain"), "");
  await expect(takeOwnership(join(folder, "plain/journal.db"))).rejects.toMatchObject({ code: "file-unreadable" });
});
