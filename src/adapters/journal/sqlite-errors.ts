import { RemandError, type ErrorCode } from "../../core/events/error.ts";

/** What SQLite or the system said, as an error that says what to do. Our own mistakes pass through as they are. */
export function asJournalError(error: unknown, file: string): unknown {
  if (error instanceof RemandError) return error;
  const known = ofSqlite(error) ?? ofSystem(error);
  if (known === null) return error;
  const [code, what, hint] = known;
  return new RemandError(code, `the journal ${file} ${what}`, hint, { cause: error });
}

type SqliteError = readonly [code: ErrorCode, what: string, hint: string];

export const CORRUPT_HINT =
  "Nothing was changed. Keep a copy of the file, run `remand verify` to see how far it can be trusted, and bring it back from a backup.";
const ROOM_HINT = "Make room and run the same command again: everything up to here is kept.";
const READONLY_HINT = "Change the permissions of the file and of its folder, or run as a user who may write there.";

const BY_CODE: Readonly<Record<number, SqliteError>> = {
  5: [
    "journal-locked",
    "is being written by another process that does not finish",
    "See what holds it, and try again.",
  ],
  6: [
    "journal-locked",
    "is being written by another process that does not finish",
    "See what holds it, and try again.",
  ],
  8: ["journal-readonly", "cannot be written to", READONLY_HINT],
  10: [
    "file-unreadable",
    "cannot be reached: the disk reports an error",
    "Check the disk; nothing that was acknowledged is lost by it.",
  ],
  11: ["journal-corrupt", "is damaged", CORRUPT_HINT],
  13: ["journal-full", "cannot grow: the disk is full", ROOM_HINT],
  14: [
    "file-unreadable",
    "cannot be opened",
    "Check that it is a file, and that its folder exists and may be written to.",
  ],
  26: ["journal-corrupt", "is no journal of Remand's: it is not even a database", CORRUPT_HINT],
};

/** The shared memory beside the file could not grow: SQLite calls that an I/O error, and means a full disk. */
const SHARED_MEMORY_FULL = 4874;

function ofSqlite(error: unknown): SqliteError | null {
  const code = sqliteCode(error);
  if (code === null) return null;
  return BY_CODE[code === SHARED_MEMORY_FULL ? 13 : code & 0xff] ?? null;
}

const BY_NAME: Readonly<Record<string, SqliteError>> = {
  EACCES: BY_CODE[8]!,
  EPERM: BY_CODE[8]!,
  EROFS: BY_CODE[8]!,
  ENOSPC: BY_CODE[13]!,
  EDQUOT: BY_CODE[13]!,
  ENOTDIR: BY_CODE[14]!,
  EEXIST: BY_CODE[14]!,
};

function ofSystem(error: unknown): SqliteError | null {
  return BY_NAME[systemCode(error)] ?? null;
}

export const isBusy = (error: unknown): boolean => [5, 6].includes((sqliteCode(error) ?? 0) & 0xff);
export const isCorrupt = (error: unknown): boolean => [11, 26].includes((sqliteCode(error) ?? 0) & 0xff);
export const cannotOpen = (error: unknown): boolean => [8, 14].includes((sqliteCode(error) ?? 0) & 0xff);

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode;
  return systemCode(error) === "ERR_SQLITE_ERROR" ? (BY_MESSAGE[error.message] ?? null) : null;
}

/** Where many rows are read the library gives SQLite's words and forgets its number. */
const BY_MESSAGE: Readonly<Record<string, number>> = {
  "database is locked": 5,
  "disk I/O error": 10,
  "database disk image is malformed": 11,
  "file is not a database": 26,
};

export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
