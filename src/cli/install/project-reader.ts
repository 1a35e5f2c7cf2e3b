import { delimiter, dirname, join } from "node:path";
import type { Checkout } from "../../app/command.ts";

/** Reads a folder of a project, to tell its tools from its files. */
export interface ProjectReader {
  text(name: string): Promise<string | null>;
  has(...names: readonly string[]): Promise<boolean>;
  /** The first of these that there is. */
  first(...names: readonly string[]): Promise<string | null>;
  /** Can the shell start this program here? */
  isOnPath(program: string): Promise<boolean>;
  entries(): Promise<readonly string[]>;
  inside(folder: string): ProjectReader;
  /** The folder above, within the same repository. */
  above(): Promise<ProjectReader | null>;
}

export function readerOf({ cwd, env, files }: Checkout): ProjectReader {
  const isThere = async (path: string): Promise<boolean> => (await files.look(path)).type !== "absent";
  const first: ProjectReader["first"] = async (...names) => {
    for (const name of names) if (await isThere(join(cwd, name))) return name;
    return null;
  };
  return {
    text: (name) => files.read(join(cwd, name)),
    first,
    has: async (...names) => (await first(...names)) !== null,
    async isOnPath(program) {
      const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
      return (await Promise.all(folders.map((folder) => isThere(join(folder, program))))).includes(true);
    },
    async entries() {
      const found = await files.look(cwd);
      return found.type === "folder" ? found.entries : [];
    },
    inside: (folder) => readerOf({ cwd: join(cwd, folder), env, files }),
    async above() {
      const folder = dirname(cwd);
      return folder === cwd || (await isThere(join(cwd, ".git"))) ? null : readerOf({ cwd: folder, env, files });
    },
  };
}

/** The commands that judge a change in a project, as its own people type them. */
export interface ProjectTools {
  /** What was found, and by which file: `pnpm (pnpm-lock.yaml)`. */
  readonly stack: string;
  /** Where the packages of a monorepo are; `null`: it is none. */
  readonly packages: string | null;
  readonly test: string | null;
  readonly lint: string | null;
  readonly types: string | null;
}
