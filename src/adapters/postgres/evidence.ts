import { existsSync } from "node:fs";
import { RemandError } from "../../core/events/error.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Evidence } from "../../ports/evidence.ts";
import { assert } from "../../stdx/assert.ts";
import {
  createEvidenceStore,
  isEvidenceId,
  packed,
  prepareEvidence,
  unpackEvidence,
  type EvidenceOptions,
} from "../evidence/evidence-store.ts";
import type { PostgresPool } from "./pool.ts";

export interface PostgresEvidenceOptions extends EvidenceOptions {
  /** A folder on this machine for copies of evidence that is stored or read here, so that agents can open the files. */
  readonly copies?: string;
}

/**
 * Stores output in the journal's database, gzipped and named after its content's hash. The tables must exist: open the
 * journal first.
 */
export function createPostgresEvidence(pool: PostgresPool, options: PostgresEvidenceOptions = {}): Evidence {
  const { schema, where } = pool;
  const copies = options.copies === undefined ? null : createEvidenceStore(options.copies, options);
  const rowOf = async (id: EvidenceId): Promise<string | null> => {
    const text = `SELECT packed FROM ${schema}.evidence WHERE id = $1`;
    const [row] = await pool.query<{ packed: Buffer }>({ name: "evidence", text, values: [id] });
    if (row === undefined) return null;
    const found = await unpackEvidence(row.packed, id);
    if (found !== null) return found;
    const hint = "Bring it back from a backup, or delete its row: then it counts as lost, not as changed.";
    throw new RemandError("evidence-corrupt", `the evidence ${id} in ${where} is damaged`, hint);
  };
  return {
    keep: async (text) => {
      const { id, bytes } = prepareEvidence(text, options);
      await pool.query({
        name: "keep",
        // Does nothing if the same bytes are stored; replaces damaged ones.
        text: `SELECT ${schema}.keep_evidence_1($1, $2)`,
        values: [id, await packed(bytes)],
      });
      await copies?.keep(text);
      return id;
    },
    read: async (id) => {
      if (!isEvidenceId(id)) return null;
      const text = await rowOf(id);
      if (text !== null) await copies?.keep(text);
      return text;
    },
    placeOf: (id) => {
      assert(isEvidenceId(id), `an id of evidence is a hash: ${id}`);
      const copy = copies?.placeOf(id);
      return copy !== undefined && existsSync(copy) ? copy : `remand evidence ${id} --db ${where}`;
    },
  };
}
