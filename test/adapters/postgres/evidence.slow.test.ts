import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEvidenceStore } from "../../../src/adapters/evidence/evidence-store.ts";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { openPool, type PostgresPool } from "../../../src/adapters/postgres/pool.ts";
import { evidenceId } from "../../../src/core/events/ids.ts";
import { fleetDatabase } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let pool: PostgresPool;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "remand-evidence-"));
  server = await startPostgres();
  pool = await openPool((await fleetDatabase(server, { url: server.url })).worker);
});
afterAll(async () => {
  await pool.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const rows = async (): Promise<number> =>
  Number((await server.sql("SELECT count(*) AS n FROM remand.evidence"))[0]!["n"]);

test("a text is stored once, compressed, under the same id as on disk", async () => {
  const evidence = createPostgresEvidence(pool);
  const text = "✓ 3 tests\r\nüñ€😀\u0000\n";
  const id = await evidence.keep(text);
  expect(id).toBe(await createEvidenceStore(folder).keep(text));
  expect(await evidence.read(id)).toBe(text);
  expect(await evidence.read(await evidence.keep(""))).toBe("");
  const before = await rows();
  const again = await Promise.all(Array.from({ length: 10 }, () => createPostgresEvidence(pool).keep(text)));
  expect(new Set(again)).toEqual(new Set([id]));
  expect(await rows()).toBe(before);
  const long = await evidence.keep("the same line again\n".repeat(10_000));
  const [row] = await server.sql(`SELECT length(packed) AS bytes FROM remand.evidence WHERE id = '${long}'`);
  expect(row!["bytes"]).toBeLessThan(5000);
});

test("secrets and text over the limit never reach the database", async () => {
  const evidence = createPostgresEvidence(pool, { maxBytes: 1000, secrets: { literals: ["my own secret"] } });
  const kept = (await evidence.read(await evidence.keep(`my own secret, ${"x".repeat(5000)} the end`)))!;
  expect(kept).toContain("[redacted:listed]");
  expect(kept).toMatch(/bytes were cut here[\s\S]* the end$/);
});

test("a missing text is null, and so is an invalid id", async () => {
  const evidence = createPostgresEvidence(pool);
  expect(await evidence.read(evidenceId("0".repeat(64)))).toBeNull();
  expect(await evidence.read(evidenceId("'; DROP TABLE line; --"))).toBeNull();
  expect(() => evidence.placeOf(evidenceId("../x"))).toThrow("an id of evidence is a hash");
});

test("a changed text is reported as damaged, and repaired by storing it again", async () => {
  const evidence = createPostgresEvidence(pool);
  const id = await evidence.keep("as it was");
  const other = gzipSync("something else").toString("hex");
  await server.sql(`UPDATE remand.evidence SET packed = '\\x${other}' WHERE id = '${id}'`);
  await expect(evidence.read(id)).rejects.toMatchObject({ code: "evidence-corrupt" });
  await evidence.keep("as it was");
  expect(await evidence.read(id)).toBe("as it was");
});

test("a person gets a command, and an agent on this machine a file after it was read here", async () => {
  const id = await createPostgresEvidence(pool).keep("from another machine");
  const here = createPostgresEvidence(pool, { copies: join(folder, "copies") });
  expect(here.placeOf(id)).toBe(`remand evidence ${id} --db postgres://127.0.0.1:${server.port}/postgres`);
  await here.read(id);
  expect(gunzipSync(readFileSync(here.placeOf(id))).toString()).toBe("from another machine");
});
