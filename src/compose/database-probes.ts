import type { Probe } from "../app/host.ts";
import { countText } from "../stdx/plain-text.ts";
import { RemandError } from "../core/events/error.ts";
import { durationText } from "../views/text/words.ts";
import {
  type DatabaseReport,
  type RightsReport,
  type RoleWithLogins,
  type TablesState,
  type WorkerSilence,
  examineDatabase,
} from "../adapters/postgres/examine.ts";

/**
 * Probes a fleet's database: can it be reached, does it have Remand's tables in a supported version, and are workers
 * alive? Changes nothing.
 */
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
  // Since version 10, the first number alone is the major version.
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

/** Workers send a heartbeat every second; after this long without one, others replace them. */
const SILENT_MS = 3500;

function workersProbe({ workers }: DatabaseReport): Probe[] {
  if (workers === null) return [];
  const alive = workers.filter(({ silentMs }) => silentMs <= SILENT_MS);
  const silent = workers.filter(({ silentMs }) => silentMs > SILENT_MS);
  const parts = [
    alive.length === 0
      ? "none is alive: start a remand worker to continue"
      : `${countText(alive.length, "is", "are")} alive: ${workerNames(alive)}`,
    ...(silent.length === 0 ? [] : [`${countText(silent.length, "was", "were")} heard last ${lastHeard(silent)}`]),
  ];
  return [well("workers", parts.join("; "))];
}

const workerNames = (workers: readonly WorkerSilence[]): string => firstNames(workers.map(({ name }) => name));

function firstNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).join(", ");
  return names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
}

const MOST_NAMED = 5;

const lastHeard = (silent: readonly WorkerSilence[]): string => {
  const latest = silent.reduce((one, other) => (other.silentMs < one.silentMs ? other : one));
  return `${durationText(latest.silentMs)} ago (${workerNames(silent)})`;
};

const well = (name: string, detail: string): Probe => ({ name, ok: true, detail, fix: "" });
const problem = (name: string, detail: string, fix: string): Probe => ({ name, ok: false, detail, fix });

const SEPARATE = "remand migrate --no-move --to <address>, as an administrator";

/** The roles of a fleet's database, and what the connected user may do with the journal. */
function rightsProbes(rights: RightsReport): readonly Probe[] {
  return [rolesProbe(rights), userProbe(rights)];
}

function rolesProbe({ owner, appending, reading, excess, schema, hasGuard }: RightsReport): Probe {
  const detail = [
    `${owner.name} owns the tables`,
    ...(appending.length === 0 ? [] : [`append: ${listed(appending)}`]),
    ...(reading.length === 0 ? [] : [`read: ${listed(reading)}`]),
  ].join("; ");
  if (excess.length > 0) {
    const found = excess.map(({ role, rights }) => `${role} has ${rights.join(", ")}`).join("; ");
    const fix = excess
      .map(({ role, rights }) =>
        rights.map((right) => `REVOKE ${revoked(right, schema)} FROM ${quoted(role)};`).join(" "),
      )
      .join(" ");
    return problem("roles", `${detail}. Not only by the functions can be written: ${found}`, fix);
  }
  if (owner.canLogIn || appending.length === 0)
    return well("roles", `one role for all: ${detail}. To let workers append only: ${SEPARATE}`);
  if (!hasGuard)
    return well(
      "roles",
      `${detail}. Workers and readers can stall appends by CREATE RULE and the like; to refuse those to them, run as a superuser: remand migrate --no-move --to <address>`,
    );
  return well("roles", detail);
}

function revoked(right: string, schema: string): string {
  if (right === "CREATE in the schema") return `CREATE ON SCHEMA ${schema}`;
  const [what, name] = right.split(" on ");
  return what === "EXECUTE" ? `EXECUTE ON FUNCTION ${schema}.${name}` : `${what} ON ${schema}.${name}`;
}

const quoted = (role: string): string => (role === "PUBLIC" ? role : `"${role.replaceAll('"', '""')}"`);

const listed = (roles: readonly RoleWithLogins[]): string =>
  roles.map(({ role, logins }) => (isItself(role, logins) ? role : `${role} (${loginsText(logins)})`)).join(", ");

const isItself = (role: string, logins: readonly string[]): boolean => logins.length === 1 && logins[0] === role;

const loginsText = (logins: readonly string[]): string => (logins.length === 0 ? "no login" : firstNames(logins));

function userProbe({ user, isSuperuser, may, owner, appending }: RightsReport): Probe {
  const who = isSuperuser ? `${user}, a superuser,` : user;
  const worker = appending.find(({ role }) => role !== "PUBLIC")?.role;
  if (may.change) {
    const advice =
      worker === undefined || owner.canLogIn
        ? ""
        : `. Good for an administrator; for workers and readers use a login of their own: CREATE ROLE <name> LOGIN PASSWORD '…' IN ROLE ${quoted(worker)};`;
    return well("this user", `${who} may read, append, and change lines${advice}`);
  }
  if (!may.append) return well("this user", `${who} may read; it may not append, change or delete lines`);
  if (may.queue === true)
    return well("this user", `${who} may read, append and take jobs; it may not change or delete lines`);
  const detail = `${who} may read and append, not change or delete lines; ${may.queue === null ? "the queue has no tables yet" : "it may not use the queue"}`;
  return problem("this user", detail, `To work, make the queue's tables and rights: ${SEPARATE}.`);
}
