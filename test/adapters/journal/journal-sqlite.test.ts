import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { journalContract } from "../../contract/journal.ts";

let folder = "";
journalContract("the journal on SQLite", {
  open: async () => {
    folder = mkdtempSync(join(tmpdir(), "remand-journal-"));
    return createSqliteJournal(join(folder, "deep/journal.db"));
  },
  clear: async () => rmSync(folder, { recursive: true, force: true }),
});
