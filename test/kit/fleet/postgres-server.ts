import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { findPostgres, type PostgresPrograms } from "../../postgres/binaries.ts";

/** A PostgreSQL of the tests' own, on a free port of this machine. It goes with the process that started it. */
export interface PostgresServer {
  /** Of the database `postgres`, as the superuser `remand`, with the password in it. */
  readonly url: string;
  readonly port: number;
  /** A fresh, empty database; its address. */
  newDatabase(): Promise<string>;
  /** One statement as the superuser, in the database of the address or in `postgres`. */
  sql(statement: string, url?: string): Promise<readonly Record<string, unknown>[]>;
  /** `immediate`: as a crash, without a word to its clients. It takes connections again when this resolves. */
  restart(how: "immediate" | "fast"): Promise<void>;
  /** Ends it, and leaves it down until `start`. */
  halt(how: "immediate" | "fast"): Promise<void>;
  /** kill -9 of the server's first process; it is down until `start`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good and removes its folder. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Whether a commit waits for the disk. Without it a crash of the server loses nothing, a loss of power would. */
  readonly fsync?: boolean;
  /**
   * The parent of its folder; benchmarks choose one that is not in memory. The server's user must have access to it.
   */
  readonly below?: string;
  /** `npm`: the newest version, which comes with the packages, and not the one of this machine. */
  readonly programs?: "npm";
  /** Further lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

const USER = "remand";
/** Has characters that must be escaped in an address, so that a missing escape fails the tests. */
const PASSWORD = "s3cret/of the#tests";

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres(options.programs);
  const folder = mkdtempSync(join(options.below ?? tmpdir(), "remand-postgres-"));
  if (programs.user !== undefined) chownSync(folder, programs.user.uid, programs.user.gid);
  const cleaner = createCleaner(programs, folder);
  try {
    const run = createRun(programs, folder);
    writeFileSync(join(folder, "password"), PASSWORD, { mode: 0o644 });
    await run("initdb", "-D", "data", "-U", USER, "--pwfile=password", "-A", "scram-sha-256", ...INITDB);
    const port = await freePort();
    const settings = [...settingsOf(options.fsync ?? false, folder), `port = ${port}`, ...(options.settings ?? [])];
    writeFileSync(join(folder, "data", "postgresql.conf"), `${settings.join("\n")}\n`);
    const server = serverOn(port, folder, run, cleaner.clean);
    await server.start();
    return server;
  } catch (error) {
    await cleaner.clean();
    throw error;
  }
}

const INITDB = ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"];

function settingsOf(fsync: boolean, folder: string): readonly string[] {
  const power = fsync ? "on" : "off";
  return [
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folder}'`,
    `fsync = ${power}`,
    `full_page_writes = ${power}`,
    "synchronous_commit = on",
    "max_connections = 200",
    "shared_buffers = 32MB",
    "wal_level = minimal",
    "max_wal_senders = 0",
    "log_min_messages = warning",
  ];
}

type Run = (program: string, ...args: readonly string[]) => Promise<void>;

function serverOn(port: number, folder: string, run: Run, clean: () => Promise<void>): PostgresServer {
  const url = addressOf(port, "postgres");
  const sql: PostgresServer["sql"] = async (statement, where = url) => {
    const client = new pg.Client({ connectionString: where });
    // A server that ends between two steps is reported by the step that fails; the event alone would end the process.
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const pgCtl = (...args: readonly string[]): Promise<void> =>
    run("pg_ctl", "-D", "data", "-l", "log", "-s", "-w", ...args);
  let databases = 0;
  return {
    url,
    port,
    sql,
    newDatabase: async () => {
      databases += 1;
      const name = `test_${process.pid}_${databases}`;
      await sql(`CREATE DATABASE ${name}`);
      return addressOf(port, name);
    },
    restart: (how) => pgCtl("-m", how, "restart"),
    halt: (how) => pgCtl("-m", how, "stop"),
    kill: async () => {
      const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGKILL");
      while (isThere(pid)) await sleep(5);
    },
    start: async () => {
      // After a kill -9 the other processes of the old server need a moment to notice.
      for (let tries = 1; ; tries++) {
        try {
          return await pgCtl("start");
        } catch (error) {
          if (tries === 20) throw withLog(error, folder);
          await sleep(100);
        }
      }
    },
    stop: clean,
  };
}

function addressOf(port: number, database: string): string {
  return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
}

function createRun({ folder: programs, user }: PostgresPrograms, folder: string): Run {
  return async (program, ...args) => {
    const env = { ...process.env, LC_ALL: "C", PGDATA: undefined, PGPORT: undefined };
    await promisify(execFile)(join(programs, program), args, { cwd: folder, env, ...user });
  };
}

/**
 * A process of its own that waits for the end of its input: that comes when we close it and also when this process
 * dies, however it dies. Then it ends the server and removes the folder.
 */
function createCleaner({ folder: programs, user }: PostgresPrograms, folder: string): { clean(): Promise<void> } {
  const stop = `'${join(programs, "pg_ctl")}' -D data -m immediate -s stop`;
  const script = `cat >/dev/null; ${stop}; cd / && rm -rf '${folder}'`;
  const child = spawn("sh", ["-c", script], {
    cwd: folder,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    ...user,
  });
  const ended = once(child, "exit");
  child.unref();
  return {
    clean: async () => {
      child.ref();
      child.stdin.end();
      await ended;
      // The server's user may not be allowed to take the folder itself away.
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function withLog(error: unknown, folder: string): Error {
  let log = "";
  try {
    log = readFileSync(join(folder, "log"), "utf8");
  } catch {
    // It did not come so far as to write one.
  }
  return new Error(`PostgreSQL does not start: ${String(error)}\n${log}`, { cause: error });
}
