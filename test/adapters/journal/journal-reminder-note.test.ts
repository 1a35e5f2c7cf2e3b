import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReminderNote } from "../../../src/adapters/journal/reminder-note.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-note-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the reminder note", () => {
  const file = (): string => join(folder, "deep", "journal.db.reminders");

  it("is kept for later turns, and changed only by a turn that sent reminders", async () => {
    const seen: (number | null)[] = [];
    const turn = (next: number | null): Promise<void> =>
      createReminderNote(file()).takeTurn((until) => {
        seen.push(until);
        return next;
      });
    await turn(100);
    await turn(null);
    await turn(250);
    await turn(null);
    expect(seen).toEqual([null, 100, 100, 250]);
  });

  it("lets only one of many remind", async () => {
    let rings = 0;
    const notes = Array.from({ length: 8 }, () => createReminderNote(file()));
    await Promise.all(
      notes.map((note) =>
        note.takeTurn((until) => {
          if (until !== null && until >= 60) return null;
          rings++;
          return 60;
        }),
      ),
    );
    expect(rings).toBe(1);
  });

  it("is unchanged if a turn fails", async () => {
    const note = createReminderNote(file());
    await note.takeTurn(() => 7);
    await expect(
      note.takeTurn(() => {
        throw new Error("nobody there");
      }),
    ).rejects.toThrow("nobody there");
    let seen: number | null = null;
    await note.takeTurn((until) => {
      seen = until;
      return null;
    });
    expect(seen).toBe(7);
  });
});
