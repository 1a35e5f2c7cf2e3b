import type { RightsReport, RoleWithLogins } from "../adapters/postgres/rights.ts";
import type { Probe } from "../app/host.ts";
import { problem, well } from "./probe-results.ts";

const SEPARATE = "remand migrate --no-move --to <address>, as an administrator";

/** Which roles a fleet's database has, and what the connected user may do with the journal. */
export function rightsProbes(rights: RightsReport): readonly Probe[] {
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

function loginsText(logins: readonly string[]): string {
  if (logins.length === 0) return "no login";
  const shown = logins.slice(0, MOST_NAMED).join(", ");
  return logins.length > MOST_NAMED ? `${shown} and ${logins.length - MOST_NAMED} more` : shown;
}

const MOST_NAMED = 5;

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
