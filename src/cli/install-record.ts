import { join } from "node:path";
import type { Files } from "../ports/files.ts";
import { isRecord } from "../stdx/is-record.ts";
import type { Span } from "../writers/insertion.ts";

/**
 * What was put into a project, so that it can be taken out to the byte. It holds no word of the user's: only where
 * Remand's own words begin and end, and by their hashes how a file was before and after.
 */
export interface InstallRecord {
  readonly files: readonly InstalledFile[];
  /** Folders that were made for them. */
  readonly folders: readonly string[];
}

export interface InstalledFile {
  readonly path: string;
  /** `null`: there was none. */
  readonly before: string | null;
  readonly after: string;
  readonly added: readonly Span[];
}

const STATE = ".remand";
const IGNORES = "*\n";

/** A record that cannot be read says nothing: then only what is plainly Remand's own is taken out. */
export async function readRecord(files: Files, root: string): Promise<InstallRecord> {
  const text = await files.read(join(root, STATE, "installed.json"));
  const value = valueOf(text ?? "");
  if (!isRecord(value) || !Array.isArray(value["files"]) || !Array.isArray(value["folders"]))
    return { files: [], folders: [] };
  return {
    files: value["files"].filter(isInstalledFile),
    folders: value["folders"].filter((folder): folder is string => typeof folder === "string"),
  };
}

/** Kept beside Remand's other things, in a folder that ignores itself; where nothing is left of it, it goes. */
export async function writeRecord(files: Files, root: string, record: InstallRecord): Promise<void> {
  const [state, file, ignores] = [STATE, `${STATE}/installed.json`, `${STATE}/.gitignore`].map((path) =>
    join(root, path),
  ) as [string, string, string];
  if (record.files.length > 0 || record.folders.length > 0) {
    if ((await files.look(ignores)).type === "absent") await files.write(ignores, IGNORES);
    await files.write(file, `${JSON.stringify({ schema: "remand.installed/1", ...record }, null, 2)}\n`);
    return;
  }
  await files.remove(file);
  const left = await files.look(state);
  if (left.type !== "folder" || left.entries.some((entry) => entry !== ".gitignore")) return;
  if ((await files.read(ignores)) !== IGNORES) return;
  await files.remove(ignores);
  await files.remove(state);
}

function isInstalledFile(value: unknown): value is InstalledFile {
  return (
    isRecord(value) &&
    typeof value["path"] === "string" &&
    (value["before"] === null || typeof value["before"] === "string") &&
    typeof value["after"] === "string" &&
    Array.isArray(value["added"]) &&
    value["added"].every((span) => isRecord(span) && isCount(span["at"]) && isCount(span["length"]))
  );
}

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
