import { existsSync } from "node:fs";
import type { MigratedRoles, MigrationResult, MigratePlan } from "../../app/host-plans.ts";
import { RemandError } from "../../core/events/error.ts";
import { foldJournal } from "../../engine/fold-journal.ts";
import { createSnapshotSaver } from "../../engine/snapshot.ts";
import { evidenceFiles, type EvidenceFile } from "../../adapters/evidence/evidence-store.ts";
import { takeOwnership } from "../../adapters/journal/ownership.ts";
import { openSqliteContents, type SqliteContents } from "../../adapters/journal/sqlite-journal.ts";
import { createPostgresJournal, hasJournal } from "../../adapters/postgres/journal.ts";
import { withLaunchTurn } from "../../adapters/postgres/turns.ts";
import { openPool, type PostgresPool, readAddress } from "../../adapters/postgres/pool.ts";
import { createReading } from "../../adapters/postgres/journal-lines.ts";
import { makeRoles, roleNames } from "../../adapters/postgres/roles.ts";
import { migrate as makeTables } from "../../adapters/postgres/schema.ts";
import { beginning, takeOver, takeOverEvidence } from "../../adapters/postgres/take-over.ts";
import { makeQueueTables } from "../../adapters/queue/queue-database.ts";
import { lockedError } from "../open-engine.ts";
import { stateFolder } from "../state-folder.ts";

/**
 * Sets up a fleet's database with tables and roles. Then copies a checkout's journal, evidence and outbox there, and
 * marks the old file as moved.
 */
export async function migrate(root: string, plan: MigratePlan): Promise<MigrationResult> {
  if (plan.noMove === true) return setUpAlone(plan);
  const folder = stateFolder(root);
  if (!existsSync(folder.journal))
    throw new RemandError(
      "file-missing",
      "nothing has run here yet",
      "There is no journal to move. To make the tables and roles alone: remand migrate --no-move --to <address>.",
    );
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

async function setUpAlone(plan: MigratePlan): Promise<MigrationResult> {
  const pool = await openPool(plan.to);
  try {
    const roles = plan.dryRun ? await plannedRoles(pool, plan) : await setUp(pool, plan);
    return { to: pool.where, lines: 0, evidence: 0, outbox: 0, head: null, damaged: [], roles };
  } finally {
    await pool.close();
  }
}

async function plannedRoles(pool: PostgresPool, { roles }: MigratePlan): Promise<MigratedRoles> {
  return { state: "planned", roles: await roleNames(pool, roles) };
}

/**
 * Creates the tables, the queue's tables, and the roles that own and use both. Without roles, the workers create the
 * queue's tables.
 */
async function setUp(pool: PostgresPool, { to, roles: prefix }: MigratePlan): Promise<MigratedRoles> {
  await makeTables(pool);
  const first = await makeRoles(pool, prefix);
  if (first.state === "refused") return first;
  let hasQueue = false;
  await withLaunchTurn(pool, async () => {
    hasQueue = await makeQueueTables(readAddress(to).url, pool.schema);
  });
  // Repeated for the tables that the queue's library created.
  await makeRoles(pool, prefix);
  return { ...first, hasQueue };
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
  const counts = { to: pool.where, lines: head.position, evidence: files.length, outbox: outbox.length, head };
  if (plan.dryRun) {
    // Read only: a dry run creates no tables.
    if (await hasJournal(pool)) await beginning(createReading(pool), { head, lines: contents.lines }, pool.where);
    return { ...counts, damaged: [], roles: await plannedRoles(pool, plan) };
  }
  const roles = await setUp(pool, plan);
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
    return { ...counts, damaged, roles };
  } finally {
    await journal.close();
  }
}
