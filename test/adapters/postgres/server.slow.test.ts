import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compileModule } from "../journal-process/compiled.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test("committed data survives a crash of the server, and databases are separate", async () => {
  const [one, two] = [await server.newDatabase(), await server.newDatabase()];
  await server.sql("CREATE TABLE t AS SELECT 7 AS seven", one);
  await server.restart("immediate");
  expect(await server.sql("SELECT seven FROM t", one)).toEqual([{ seven: 7 }]);
  await expect(server.sql("SELECT seven FROM t", two)).rejects.toThrow("does not exist");
  await server.kill();
  await expect(server.sql("SELECT 1")).rejects.toThrow("ECONNREFUSED");
  await server.start();
  expect(await server.sql("SELECT seven FROM t", one)).toEqual([{ seven: 7 }]);
});

test("the server ends when the process that started it is killed", async () => {
  const { program, remove } = compileModule(new URL("../../kit/start-and-wait.ts", import.meta.url));
  try {
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    const url = said.toString().trim();
    expect(await server.sql("SELECT 1 AS one", url)).toEqual([{ one: 1 }]);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(server.sql("SELECT 1", url)).rejects.toThrow("ECONNREFUSED"), 10_000);
  } finally {
    remove();
  }
});
