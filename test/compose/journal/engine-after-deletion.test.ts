import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { becomeEngine } from "../../../src/compose/journal/author.ts";
import { authorityRefusal } from "../../../src/core/events/authority.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "remand-deleted-"));
  mkdirSync(join(root, ".git"));
  // The mark of an engine above this process.
  vi.stubEnv("REMAND_COOKIE", "remand-of-the-engine-above");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

test("an agent's process begins a journal where there never was one", async () => {
  await expect(becomeEngine(root, { XDG_STATE_HOME: root })).resolves.toMatchObject({ speaker: { type: "claim" } });
});

test("it does not become a person by deleting the journal, because the clone remembers the journal", async () => {
  const anchor = { v: 1, id: "a".repeat(32), position: 3, hash: "b".repeat(64), at: 1 };
  mkdirSync(join(root, ".git/remand"));
  writeFileSync(join(root, ".git/remand/journal.json"), JSON.stringify(anchor));
  await expect(becomeEngine(root, { XDG_STATE_HOME: root })).rejects.toThrow("An engine started this process");
});

test("a process that may be an agent's cannot replace a journal", () => {
  const lost = { id: null, position: 0, hash: "0".repeat(64), why: "it is gone", kept: null };
  const event = { type: "journal.replaced", id: "c".repeat(32), lost, by: "Ada" } as const;
  expect(authorityRefusal({ type: "claim", why: "an orphan" }, [event])?.message).toMatch(
    /^Replacing the journal needs an identified person/,
  );
});
