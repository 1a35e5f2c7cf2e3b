import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import { serve } from "../../src/compose/serve.ts";
import { writeWaitingQuestion } from "../kit/waiting-question.ts";

/* A served dashboard without an engine, whose journal has a question that is two hours old. */

let root: string;
const told = (): string => join(root, "told.txt");

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "remand-serve-"));
  mkdirSync(join(root, ".remand"));
  mkdirSync(join(root, "pages"));
  writeFileSync(join(root, "pages", "index.html"), "<!doctype html>");
  const journal = await createSqliteJournal(join(root, ".remand", "journal.db"));
  await writeWaitingQuestion(journal);
  await journal.close();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const served = (readOnly: boolean): ReturnType<typeof serve> =>
  serve(
    root,
    null,
    {
      port: 0,
      readOnly,
      by: "ada",
      version: "1",
      redact: [],
      notify: { notify: ['echo "$REMAND_KIND: $REMAND_TITLE" >> told.txt'], env: [] },
      assets: join(root, "pages"),
      health: () => Promise.resolve({ probes: [], config: [] }),
      verify: () => Promise.resolve(null),
    },
    { PATH: process.env["PATH"] },
  );

describe("remand serve", () => {
  it("sends reminders once that fell due while no process ran", async () => {
    for (let times = 0; times < 2; times++) {
      const dashboard = await served(false);
      await expect.poll(() => existsSync(told()), { timeout: 60_000 }).toBe(true);
      await dashboard.close();
    }
    expect(readFileSync(told(), "utf8")).toBe(
      "reminder: a still needs you, after 2 h: the same failure again and again\n",
    );
  });

  it("sends nothing from a read-only dashboard", async () => {
    const dashboard = await served(true);
    await dashboard.close();
    expect(existsSync(told())).toBe(false);
    expect(existsSync(join(root, ".remand", "journal.db.reminders"))).toBe(false);
  });
});
