import { type ErrorCode, RemandError } from "../../core/events/error.ts";
import { NOT_A_LINE } from "./append-function.ts";

/**
 * Turns an error of the server, driver or network into one that says what to do. Other errors are bugs and pass
 * through.
 */
export function asPostgresError(error: unknown, where: string): unknown {
  if (error instanceof RemandError) return error;
  const code = codeOf(error);
  const known = tlsTrouble(error, code) ?? BY_CODE[code] ?? (isLost(error) ? LOST : null);
  if (known === null) return error;
  const [kind, what, hint] = known;
  return new RemandError(kind, `the database ${where} ${what}${serverMessage(error, code)}`, hint, { cause: error });
}

const ROOM_HINT = "Make room on the server and run the same command again: everything up to here is kept.";
const RIGHTS_HINT =
  "Let an administrator grant it: CREATE on the database for the first start, afterwards membership in the role of the workers or readers. `remand doctor --db` names them.";

const UNREACHABLE: KnownError = [
  "journal-unreachable",
  "cannot be reached",
  "Check the address, that the server runs and listens there, and that no firewall is in between.",
];
const LOST: KnownError = [
  "journal-unreachable",
  "does not answer",
  "What was being written is either there as a whole or not at all: run the same command again when the server is back.",
];
const PASSWORD: KnownError = [
  "journal-refused",
  "refuses the user or the password",
  "Check both in the address, or in PGUSER and PGPASSWORD; special characters in an address are percent-encoded.",
];
const RIGHTS: KnownError = ["journal-refused", "does not allow it", RIGHTS_HINT];
const FULL: KnownError = ["journal-full", "cannot grow: its disk is full", ROOM_HINT];
const READONLY: KnownError = [
  "journal-readonly",
  "can only be read",
  "It is a replica, or was made read-only: give the address of the server that takes writes.",
];
const NEWER: KnownError = [
  "journal-newer",
  "was changed by a newer Remand while this one was at work",
  "Nothing was changed by this one. Use the newer Remand.",
];
const REFUSED_LINE: KnownError = [
  "journal-refused",
  "refuses what is not a line of the journal",
  "Nothing was written. Use the same version of Remand everywhere; if this one wrote the event, report it as a bug.",
];
const IN_USE: KnownError = [
  "journal-locked",
  "did not free a lock in time",
  "Nothing was changed. If its tables are being updated, end the sessions that read them (pg_stat_activity shows which), and run the same command again.",
];
const NO_LOCKS: KnownError = [
  "journal-locked",
  "has no memory left for locks",
  "See in pg_locks which session holds so many and end it, or raise max_locks_per_transaction of the server.",
];
const CORRUPT: KnownError = [
  "journal-corrupt",
  "reports damage to its own files",
  "Nothing was changed. Look at the server's log, run `remand verify`, and restore a backup where it says so.",
];

/** SQLSTATEs of PostgreSQL, and error codes of the system. */
const BY_CODE: Readonly<Record<string, KnownError>> = {
  ECONNREFUSED: UNREACHABLE,
  ENOTFOUND: [
    "journal-unreachable",
    "cannot be reached: there is no host of that name",
    "Check the name of the host in the address, and that this machine can look it up.",
  ],
  EAI_AGAIN: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENOENT: UNREACHABLE,
  "28P01": PASSWORD,
  "28000": PASSWORD,
  "3D000": [
    "journal-refused",
    "is not there: the server has no database of that name",
    "Make it with createdb, or check the name.",
  ],
  "42501": RIGHTS,
  [NOT_A_LINE]: REFUSED_LINE,
  "22P02": REFUSED_LINE,
  "53100": FULL,
  "53200": NO_LOCKS,
  "55P03": IN_USE,
  "53300": ["journal-locked", "has no connection left", "Raise max_connections of the server, or start fewer workers."],
  "25006": READONLY,
  "42883": NEWER,
  XX001: CORRUPT,
  XX002: CORRUPT,
};

/** Returns the server's own message where it helps. It names users, tables and limits, and never a password. */
function serverMessage(error: unknown, code: string): string {
  const helps = code === "28P01" || code === "28000" || code === "42501" || code === "3D000" || code === NOT_A_LINE;
  return helps && error instanceof Error ? ` (${error.message})` : "";
}

/** Whether the connection failed and not the statement, so that a retry on a new connection may succeed. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST_CODES.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && LOST_WORDS.some((words) => error.message.includes(words));
}

/** Codes of a server that is starting up, shutting down, or out of connections for now. */
const LOST_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "57P01",
  "57P02",
  "57P03",
  "57014",
  "53200",
  "53300",
  "40001",
  "40P01",
]);

/** The driver gives these errors no code. */
const LOST_WORDS = [
  "Connection terminated",
  "Query read timeout",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "not queryable",
];

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // Several addresses were tried and none answered.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** What is wrong, and what to do about it. */
export type KnownError = readonly [code: ErrorCode, what: string, hint: string];

/** Returns a problem of encryption, which the server reports with the code of a wrong password. */
function tlsTrouble(error: unknown, code: string): KnownError | null {
  const words = error instanceof Error ? error.message : "";
  if (code === "28000" && /no encryption|SSL off/i.test(words)) return DEMANDED;
  if (code === "" && words.includes("does not support SSL")) return UNKNOWN_THERE;
  return CERTIFICATE_CODES.has(code) ? CERTIFICATE : null;
}

const DEMANDED: KnownError = [
  "journal-refused",
  "refuses connections without TLS, or this user without it",
  "Ask for it in the address: ?sslmode=verify-full; with a certificate of its own also &sslrootcert=<file>.",
];
const UNKNOWN_THERE: KnownError = [
  "journal-refused",
  "knows no TLS, and the address asks for it",
  "Turn it on at the server (ssl = on), or take sslmode out of the address where the network is your own.",
];
const CERTIFICATE: KnownError = [
  "journal-refused",
  "shows a certificate that this machine does not trust",
  "Name who signed it in the address: ?sslmode=verify-full&sslrootcert=<file>; or ?sslmode=no-verify where the network is your own.",
];

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
]);
