import type { Probe } from "../app/host.ts";
import { problem, well } from "./probe-results.ts";
import { countText } from "../stdx/plain-text.ts";
import { RemandError } from "../core/events/error.ts";
import { rightsProbes } from "./rights-probes.ts";
import { durationText } from "../views/text/words.ts";
import {
  examineDatabase,
  type DatabaseReport,
  type WorkerSilence,
  type TablesState,
} from "../adapters/postgres/examine.ts";

/** A fleet's database: can it be reached, is it ours and of our version, and are workers alive? Nothing is changed. */
export async function databaseProbes(db: string): Promise<readonly Probe[]> {
  try {
    const examined = await examineDatabase(db);
    return [
      serverProbe(examined),
      tablesProbe(examined),
      ...(examined.rights === null ? [] : rightsProbes(examined.rights)),
      ...workersProbe(examined),
    ];
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    return [problem("database", error.message, error.hint)];
  }
}

function serverProbe({ where, server }: DatabaseReport): Probe {
  const { version, isEncrypted, isReplica } = server;
  const detail = `${where}, PostgreSQL ${version}, ${isEncrypted ? "with" : "without"} TLS`;
  // Since 10 the first number alone is the major version.
  if (Number.parseInt(version, 10) < LEAST_MAJOR)
    return problem("database", detail, `Use PostgreSQL ${LEAST_MAJOR} or newer.`);
  if (!isReplica) return well("database", detail);
  const fix = "It can be read. To work, give the address of the server that takes writes.";
  return problem("database", `${detail}, a replica`, fix);
}

const LEAST_MAJOR = 13;

function tablesProbe({ where, tables }: DatabaseReport): Probe {
  switch (tables.state) {
    case "none":
      return noTables(where, tables);
    case "foreign":
      return problem(
        "fleet's journal",
        `the schema ${tables.schema} of ${where} holds tables that are not Remand's`,
        "Check the name of the database, or choose another schema with ?schema=name in the address.",
      );
    case "no-rights":
      return problem(
        "fleet's journal",
        `the user ${tables.user} may not read the schema ${tables.schema}`,
        `Let an administrator make it a member of the readers' role, which remand migrate --no-move names. Without roles: GRANT USAGE ON SCHEMA ${tables.schema} TO ${tables.user}; GRANT SELECT ON ALL TABLES IN SCHEMA ${tables.schema} TO ${tables.user};`,
      );
    case "ours":
      return ourTables(tables);
  }
}

function noTables(where: string, { encoding, mayMake }: TablesState & { state: "none" }): Probe {
  if (encoding !== "UTF8") {
    const fix = "Make one with UTF8: createdb --encoding=UTF8 --template=template0.";
    return problem("fleet's journal", `the database ${where} keeps text as ${encoding}`, fix);
  }
  if (mayMake) return well("fleet's journal", "none yet: the first remand worker, or remand migrate, makes it");
  const fix = "Let an administrator grant CREATE on the database to it, or make the tables once by starting a worker.";
  return problem("fleet's journal", "none yet, and this user may not make it", fix);
}

function ourTables({ version, newest, lines }: TablesState & { state: "ours" }): Probe {
  const detail = `${countText(lines, "line")}, tables of version ${version}`;
  if (version > newest) {
    const fix = "Nothing was changed. Use the newer Remand that wrote it.";
    return problem("fleet's journal", `${detail}, and this Remand knows ${newest}`, fix);
  }
  if (version < newest) {
    const fix = "Stop the older workers, and run remand migrate --no-move --to <address> as the owner of the tables.";
    return problem("fleet's journal", `${detail}, and this Remand wants ${newest}`, fix);
  }
  return well("fleet's journal", detail);
}

/** Each says so once a second; after so long without a word others take its place. */
const SILENT_MS = 3500;

function workersProbe({ workers }: DatabaseReport): Probe[] {
  if (workers === null) return [];
  const alive = workers.filter(({ silentMs }) => silentMs <= SILENT_MS);
  const silent = workers.filter(({ silentMs }) => silentMs > SILENT_MS);
  const parts = [
    alive.length === 0
      ? "none is alive: start a remand worker to continue"
      : `${countText(alive.length, "is", "are")} alive: ${joinNames(alive)}`,
    ...(silent.length === 0 ? [] : [`${countText(silent.length, "was", "were")} heard last ${lastHeard(silent)}`]),
  ];
  return [well("workers", parts.join("; "))];
}

const joinNames = (workers: readonly WorkerSilence[]): string => {
  const names = workers.slice(0, MOST_NAMED).map(({ name }) => name);
  return workers.length > MOST_NAMED ? `${names.join(", ")} and ${workers.length - MOST_NAMED} more` : names.join(", ");
};

const MOST_NAMED = 5;

const lastHeard = (silent: readonly WorkerSilence[]): string => {
  const latest = silent.reduce((one, other) => (other.silentMs < one.silentMs ? other : one));
  return `${durationText(latest.silentMs)} ago (${joinNames(silent)})`;
};
