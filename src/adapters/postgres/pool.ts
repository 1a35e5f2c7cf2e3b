import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig, Pool, PoolClient } from "pg";
import { RemandError } from "../../core/events/error.ts";
import { assert } from "../../stdx/assert.ts";
import { asPostgresError, codeOf, isLost } from "./errors.ts";

export interface PoolOptions {
  /** How long a statement is retried while the server cannot be reached. */
  readonly patienceMs?: number;
  /** The same for the first connection: a wrong address should be reported soon, but a starting server awaited. */
  readonly openPatienceMs?: number;
  /** How long one attempt may take before its connection counts as lost. */
  readonly tryMs?: number;
  /** The maximum number of connections. */
  readonly connections?: number;
}

/** A statement with its values. With a `name`, the server prepares it once per connection. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

/** Connections to one database. Errors become RemandErrors, and a lost connection is retried within limits. */
export interface PostgresPool extends Pick<Address, "schema" | "where"> {
  /**
   * Runs a statement, and repeats it on a new connection if the first was lost: it must be safe to run twice. An
   * attempt that took too long is ended on the server before the next one.
   */
  query<Row extends object>(statement: Statement): Promise<readonly Row[]>;
  /** Runs statements in one transaction; restarts it if the connection was lost. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Opens a dedicated connection, for what lasts as long as a session: listening, and locks. The caller ends it. */
  session(): Promise<Session>;
  /** Closes the connections. Pending calls are rejected. */
  close(): Promise<void>;
}

export type Query = <Row extends object>(statement: Statement) => Promise<readonly Row[]>;

export interface Session {
  readonly query: Query;
  /** Calls back once when the connection is gone, whichever side ended it. */
  onEnd(ended: () => void): void;
  /** Calls back with the payload of each notification on a channel that this session listens to. */
  onNotification(onPayload: (payload: string) => void): void;
  end(): Promise<void>;
}

const PATIENCE_MS = 60_000;
const TRY_MS = 20_000;
const CONNECT_MS = 10_000;
const CONNECTIONS = 4;
/** Idle connections are closed after this time. Opening one costs as much as writing many events. */
const IDLE_MS = 120_000;
/** Keeps routers from dropping silent connections. */
const KEEP_ALIVE_MS = 30_000;

/** Opens connections to a database. Throws a RemandError that says what is wrong if none can be opened. */
export async function openPool(url: string, options: PoolOptions = {}): Promise<PostgresPool> {
  const address = readAddress(url);
  const { where } = address;
  const tryMs = options.tryMs ?? TRY_MS;
  const driver = await loadDriver();
  // The server shows this name for each connection, so that those of this pool can be identified.
  const name = `remand ${randomBytes(6).toString("hex")}`;
  const config: ClientConfig = {
    connectionString: address.url,
    application_name: name,
    connectionTimeoutMillis: Math.min(CONNECT_MS, tryMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
  const pool = new driver.Pool({ ...config, max: options.connections ?? CONNECTIONS, idleTimeoutMillis: IDLE_MS });
  // A connection that breaks while idle is replaced at the next query.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const tries = createTries(pool, name, tryMs);
  const closing = new AbortController();
  const patient = <T>(patienceMs: number, work: () => Promise<T>): Promise<T> =>
    retry(work, { patienceMs, where, signal: closing.signal });
  const patienceMs = options.patienceMs ?? PATIENCE_MS;

  const opened: PostgresPool = {
    schema: address.schema,
    where,
    query: (statement) => patient(patienceMs, () => tries.query(statement)),
    transaction: (work) => patient(patienceMs, () => tries.transaction(work)),
    session: () => patient(0, () => openSession(new driver.Client(config), tryMs)),
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort();
      await pool.end();
    },
  };
  try {
    await patient(options.openPatienceMs ?? 0, () => tries.query({ text: "SELECT 1" }));
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function loadDriver(): Promise<{ Pool: typeof Pool; Client: typeof Client }> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    throw new RemandError(
      "journal-unreachable",
      "the package pg, which speaks to PostgreSQL, is not installed",
      "Run npm install pg beside Remand (npm install -g pg where Remand is installed globally).",
      { cause: error },
    );
  }
}

/**
 * Overrides settings of an administrator: an acknowledged commit is on disk, and a statement sees what was committed
 * before it.
 */
async function setSessionDefaults(client: Pick<PoolClient, "query">): Promise<void> {
  await client.query(
    `SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'on'
       ELSE current_setting('synchronous_commit') END, false),
     set_config('default_transaction_isolation', 'read committed', false)`,
  );
}

function createTries(pool: Pool, name: string, tryMs: number) {
  const ready = new WeakSet<PoolClient>();
  let stalled: number[] = [];
  /** Ends stalled queries, which could undo later statements. Only this pool's connections have that name. */
  const endStalled = async (client: PoolClient): Promise<void> => {
    if (stalled.length === 0) return;
    const text =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY($1) AND application_name = $2 AND usename = current_user";
    await client.query({ ...withTimeout({ text, values: [stalled, name] }, tryMs) });
    stalled = [];
  };
  const onOne = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      if (!ready.has(client)) await setSessionDefaults(client);
      ready.add(client);
      await endStalled(client);
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const { processID } = client as unknown as { readonly processID: number | null };
      if (isLost(error) && processID !== null) stalled.push(processID);
      client.release(true);
      throw error;
    }
  };
  const queryOn =
    (client: PoolClient): Query =>
    async (statement) =>
      (await client.query(withTimeout(statement, tryMs))).rows;
  return {
    query: <Row extends object>(statement: Statement) => onOne((client) => queryOn(client)<Row>(statement)),
    transaction: <T>(work: (query: Query) => Promise<T>) =>
      onOne(async (client) => {
        const query = queryOn(client);
        await query({ text: "BEGIN" });
        const result = await work(query);
        await query({ text: "COMMIT" });
        return result;
      }),
  };
}

function withTimeout({ text, values, name }: Statement, tryMs: number) {
  return {
    text,
    query_timeout: tryMs,
    ...(values === undefined ? {} : { values: [...values] }),
    ...(name === undefined ? {} : { name }),
  };
}

interface RetryOptions {
  readonly patienceMs: number;
  readonly where: string;
  readonly signal: AbortSignal;
}

/** Retries until the work succeeds, fails for a reason other than a lost connection, or took too long. */
async function retry<T>(work: () => Promise<T>, { patienceMs, where, signal }: RetryOptions): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let tries = 0; ; tries++) {
    try {
      assert(!signal.aborted, "the database's connections are closed");
      return await work();
    } catch (error) {
      // A starting server reports this code. It is no wrong address, and will be ready soon.
      const isStarting = codeOf(error) === "57P03" && tries < STARTING_TRIES;
      const isOver = performance.now() > deadline && !isStarting;
      if (!isLost(error) || isOver || signal.aborted) throw asPostgresError(error, where);
      await sleep(Math.min(PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS));
    }
  }
}

const STARTING_TRIES = 20;
const PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

async function openSession(client: Client, tryMs: number): Promise<Session> {
  let isEnded = false;
  const waiting: (() => void)[] = [];
  const over = (): void => {
    isEnded = true;
    for (const each of waiting.splice(0)) each();
  };
  client.on("error", over);
  client.on("end", over);
  await client.connect();
  await setSessionDefaults(client);
  let turn: Promise<unknown> = Promise.resolve();
  /** Runs one statement after the other, as the driver requires. */
  const query: Query = <Row extends object>(statement: Statement) => {
    const asked = turn.then(async () => (await client.query<Row>(withTimeout(statement, tryMs))).rows);
    turn = asked.catch(() => undefined);
    return asked;
  };
  return {
    query,
    onEnd: (ended) => {
      if (isEnded) ended();
      else waiting.push(ended);
    },
    onNotification: (onPayload) => void client.on("notification", ({ payload }) => onPayload(payload ?? "")),
    end: async () => {
      await client.end().catch(() => undefined);
    },
  };
}

/** The address of a fleet's database. */
export interface Address {
  /** For the driver: with user and password, without Remand's own parameters. Never printed. */
  readonly url: string;
  /** One database can hold several projects, each in its own schema. */
  readonly schema: string;
  /** For display: without user and password. */
  readonly where: string;
}

const DEFAULT_SCHEMA = "remand";

/** Short and plain, so that it needs no quotes in SQL and fits into the name of a channel. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;

const isPostgresUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//.test(text);

/** Parses an address. Errors do not repeat it, because it may contain a password. */
export function readAddress(text: string): Address {
  if (!isPostgresUrl(text)) throw wrong("it does not begin with postgres://");
  let url: URL;
  try {
    // No `cause`: the system's own message repeats the whole address.
    url = new URL(text);
  } catch {
    throw wrong("it is no URL; a password with / # ? or @ in it must be percent-encoded");
  }
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw wrong(`its schema must be a plain name, in lower case and of at most 48 letters, digits and _`);
  url.searchParams.delete("schema");
  const host = url.searchParams.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname);
  const port = url.port === "" ? "" : `:${url.port}`;
  const ours = schema === DEFAULT_SCHEMA ? "" : `?schema=${schema}`;
  return { url: url.href, schema, where: `postgres://${host}${port}${url.pathname}${ours}` };
}

function wrong(why: string): RemandError {
  return new RemandError(
    "usage",
    `the address of the database cannot be used: ${why}`,
    "Write it as postgres://user:password@host:5432/database, or with ?schema=name at the end.",
  );
}
