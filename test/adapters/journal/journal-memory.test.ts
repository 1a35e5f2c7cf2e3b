import { describe, expect, test } from "vitest";
import { createMemoryJournal, type MemoryAppend } from "../../kit/memory-journal.ts";
import { A, B, journalContract, lines, startedEvent } from "../../contract/journal.ts";

journalContract("the journal in memory", {
  open: async () => createMemoryJournal(),
  clear: async () => {},
});

describe("faults for the simulator", () => {
  test("a fault before an append writes nothing", async () => {
    const seen: MemoryAppend[] = [];
    const journal = createMemoryJournal({
      onAppend: (append) => {
        seen.push(append);
        if (append.position === 2 && append.stage === "before") throw new Error("the disk is full");
      },
    });
    await journal.append(A, 0, [startedEvent("1")], 1);
    await expect(journal.append(A, 1, [startedEvent("2")], 2)).rejects.toThrow("the disk is full");
    expect(await lines(journal)).toHaveLength(1);
    expect(seen.map(({ position, stage }) => `${stage} ${position}`)).toEqual(["before 1", "after 1", "before 2"]);
  });

  test("a fault after an append leaves it written, without the writer's knowledge", async () => {
    const journal = createMemoryJournal({
      onAppend: ({ stage, stream }) => {
        if (stage === "after" && stream === A) throw new Error("killed");
      },
    });
    await expect(journal.append(A, 0, [startedEvent()], 1)).rejects.toThrow("killed");
    expect(await journal.append(A, 0, [startedEvent()], 1)).toEqual({
      ok: false,
      conflict: { expected: 0, actual: 1 },
    });
    expect((await journal.append(B, 0, [startedEvent()], 1)).ok).toBe(true);
    expect(await journal.verify()).toMatchObject({ ok: true });
  });

  test("a conflict does not reach the hook", async () => {
    let calls = 0;
    const journal = createMemoryJournal({ onAppend: () => void calls++ });
    await journal.append(A, 5, [startedEvent()], 1);
    expect(calls).toBe(0);
  });
});
