import { existsSync } from "node:fs";
import type { MigrationResult, MigratePlan } from "../../app/host.ts";
import { RemandError } from "../../core/events/error.ts";
import { foldJournal } from "../../engine/fold-journal.ts";
import { createSnapshotSaver } from "../../engine/snapshot.ts";
import { evidenceFiles, type EvidenceFile } from "../../adapters/evidence/packed.ts";
import { takeOwnership } from "../../adapters/journal/ownership.ts";
import { openSqliteContents, type SqliteContents } from "../../adapters/journal/sqlite-contents.ts";
import { createPostgresJournal, hasJournal } from "../../adapters/postgres/journal.ts";
import { openPool, type PostgresPool } from "../../adapters/postgres/pool.ts";
import { createReading } from "../../adapters/postgres/reading.ts";
import { beginning, takeOver, takeOverEvidence } from "../../adapters/postgres/take-over.ts";
import { lockedError } from "../open-engine.ts";
import { stateFolder } from "../state-folder.ts";

/** Takes a checkout's journal, evidence and outbox to a fleet's database, and marks the file that was left behind. */
export async function migrate(root: string, plan: MigratePlan): Promise<MigrationResult> {
  const folder = stateFolder(root);
  if (!existsSync(folder.journal))
    throw new RemandError("file-missing", "nothing has run here yet", "There is no journal to move: start a worker.");
  const claim = await takeOwnership(folder.journal);
  if ("heldBy" in claim) throw lockedError(claim.heldBy);
  try {
    const contents = await openSqliteContents(folder.journal);
    try {
      const pool = await openPool(plan.to);
      try {
        return await moveContents(contents, await evidenceFiles(folder.evidence), pool, plan);
      } finally {
        await pool.close();
      }
    } finally {
      contents.close();
    }
  } finally {
    await claim.release();
  }
}

async function moveContents(
  contents: SqliteContents,
  files: readonly EvidenceFile[],
  pool: PostgresPool,
  plan: MigratePlan,
): Promise<MigrationResult> {
  const verified = await contents.verify();
  if (!verified.ok)
    throw new RemandError(
      "journal-corrupt",
      `the journal is damaged at line ${verified.position}: ${verified.problem}`,
      "Nothing was moved. A chain that is broken here would be broken there: bring the file back from a backup.",
    );
  const { head } = verified;
  const outbox = contents.outbox();
  const told = { to: pool.where, lines: head.position, evidence: files.length, outbox: outbox.length, head };
  if (plan.dryRun) {
    // Read only: a dry run creates no tables.
    if (await hasJournal(pool)) await beginning(createReading(pool), { head, lines: contents.lines }, pool.where);
    return { ...told, damaged: [] };
  }
  const journal = await createPostgresJournal(pool);
  try {
    await beginning(createReading(pool), { head, lines: contents.lines }, pool.where);
    const damaged = await takeOverEvidence(pool, files, (copied) => plan.onProgress("evidence", copied, files.length));
    const isDone = await takeOver(pool, {
      head,
      lines: contents.lines,
      outbox,
      onLines: (copied) => plan.onProgress("lines", copied, head.position),
      seal: (commit) => contents.handOver(head, pool.where, commit),
    });
    if (!isDone)
      throw new RemandError(
        "journal-locked",
        "another process wrote to the journal during the migration",
        "Nothing was moved. Run the same command again.",
      );
    const folded = await foldJournal(journal);
    await createSnapshotSaver(journal, null)(folded);
    return { ...told, damaged };
  } finally {
    await journal.close();
  }
}
