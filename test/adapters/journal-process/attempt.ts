/**
 * A process without special write permissions, even when the tests run as root, that reports what it could do with a
 * journal. `attempt <file> write|read`
 */
import { createSqliteJournal, openJournalReadOnly } from "../../../src/adapters/journal/sqlite-journal.ts";
import { loadSqlite } from "../../../src/adapters/journal/sqlite.ts";
import { RemandError } from "../../../src/core/events/error.ts";

const NOBODY = 65_534;
const [file = "", what = ""] = process.argv.slice(2);
// Loaded first, because the unprivileged user may not be allowed to read the folder of the libraries.
await loadSqlite();
if (process.getuid?.() === 0) process.setuid?.(NOBODY);
try {
  const journal = await (what === "write" ? createSqliteJournal(file) : openJournalReadOnly(file));
  let lines = 0;
  for await (const _ of journal.read(0)) lines++;
  const { ok } = await journal.verify();
  await journal.close();
  console.log(JSON.stringify({ lines, ok }));
} catch (error) {
  if (!(error instanceof RemandError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));
}
