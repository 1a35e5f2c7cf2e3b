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
  /** A folder of this machine for copies of what is kept or read here, so that an agent finds a file to look into. */
  readonly copies?: string;
}

/**
 * What was printed, in the database of the journal, named after its content and packed. The tables must be there:
 * open the journal first.
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
        // The same again is not written again; what was damaged is.
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
