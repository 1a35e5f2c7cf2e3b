import { join, posix } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { Files } from "../../ports/files.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { type GrownText, type AddedSpan, without } from "../../write/edits/added-text.ts";
import { addToJson } from "../../write/edits/json-edit.ts";
import { addToToml } from "../../write/edits/toml-edit.ts";
import { isRecord } from "../../stdx/assert.ts";
import type { SetupPart } from "./client-parts.ts";

/** What was done with one file. */
export interface FileAction {
  readonly path: string;
  readonly did: "wrote" | "changed" | "there" | "left" | "removed" | "restored" | "cut";
  /** An explanation, if one is needed. */
  readonly why: string;
}

interface PlannedFile extends FileAction {
  readonly change: { readonly text: string; readonly noted: InstalledFile } | null;
}

/**
 * Installs the parts. Every file is checked before the first one is written: if one cannot be edited safely, nothing
 * changes. Installing only adds; parts that are already there stay as they are.
 */
export async function install(
  files: Files,
  root: string,
  parts: readonly SetupPart[],
  isDry: boolean,
): Promise<readonly FileAction[]> {
  const record = await readRecord(files, root);
  const planned: PlannedFile[] = [];
  const folders = new Set(record.folders);
  for (const part of parts) {
    for (const folder of await missingFolders(files, root, part.path)) folders.add(folder);
    planned.push(await plannedFor(files, root, part, record));
  }
  const changes = planned.flatMap(({ change }) => (change === null ? [] : [change]));
  if (!isDry && changes.length > 0) {
    const paths = new Set(changes.map(({ noted }) => noted.path));
    const kept = record.files.filter(({ path }) => !paths.has(path));
    // The record is written first: after a crash between the two writes it still describes each file, before and after.
    await writeRecord(files, root, {
      files: [...kept, ...changes.map(({ noted }) => noted)],
      folders: [...folders].toSorted(),
    });
    for (const { text, noted } of changes) await files.write(join(root, noted.path), text);
  }
  return planned.map(({ path, did, why }) => ({ path, did, why }));
}

async function plannedFor(files: Files, root: string, part: SetupPart, record: InstallRecord): Promise<PlannedFile> {
  const { path } = part;
  const text = await editableText(files, root, path);
  const known = record.files.find((file) => file.path === path);
  const isAsLeft = known !== undefined && text !== null && sha256(text) === known.after;
  if (part.type === "file") {
    if (text === part.text) return { path, did: "there", why: "", change: null };
    if (text !== null && !isAsLeft)
      return { path, did: "left", why: "there is one already that Remand did not write", change: null };
    const noted = { path, before: null, after: sha256(part.text), added: [] };
    return { path, did: text === null ? "wrote" : "changed", why: "", change: { text: part.text, noted } };
  }
  const start: GrownText = { text: text ?? "", added: isAsLeft ? known.added : [] };
  const grown = grownBy(part, start);
  if (grown.text === text) return { path, did: "there", why: "", change: null };
  const whole = text === null ? `${grown.text.trimEnd()}\n` : grown.text;
  const before = text === null ? null : isAsLeft ? known.before : sha256(without(whole, grown.added));
  const noted = { path, before, after: sha256(whole), added: text === null ? [] : grown.added };
  return { path, did: text === null ? "wrote" : "changed", why: "", change: { text: whole, noted } };
}

function grownBy(part: Exclude<SetupPart, { type: "file" }>, start: GrownText): GrownText {
  const edit = part.type === "json" ? addToJson(start, part.additions) : addToToml(start, part.table);
  if (edit.ok) return edit.grown;
  const place = "at" in edit && typeof edit.at === "number" ? placeIn(start.text, edit.at) : "";
  const hint = "Fix that, or add Remand's part by hand as the guide shows: docs/guide/inside-an-agent.md.";
  throw new RemandError("input-invalid", `${part.path}${place} cannot be edited safely: ${edit.message}`, hint);
}

function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `:${before.length}:${before.at(-1)!.length + 1}`;
}

/** Reads a regular file of this project that may be written; `null` where there is none. Throws for any other file. */
export async function editableText(files: Files, root: string, path: string): Promise<string | null> {
  const refuse = (message: string, hint: string): never => {
    throw new RemandError("input-invalid", `${path} ${message}`, hint);
  };
  const project = await files.look(root);
  const home = project.type === "folder" ? project.place : root;
  for (const step of stepsTo(path)) {
    const standing = await files.look(join(root, step));
    if (standing.type === "absent") return null;
    if (standing.type === "other")
      return refuse("cannot be written: it is a broken link or not a regular file", "Fix or remove it.");
    const isWhole = step === path;
    if (!standing.place.startsWith(join(home, "/")))
      return refuse(`leads out of the project, to ${standing.place}`, "What others share is not changed from here.");
    if (isWhole !== (standing.type === "file"))
      return refuse(isWhole ? "is a folder" : `cannot be there: ${step} is a file`, "Move it out of the way.");
    if (standing.type === "file" && standing.isReadOnly)
      return refuse("is read-only", `Allow writing first: chmod u+w ${path}`);
  }
  const text = await files.read(join(root, path));
  // Invalid UTF-8 was decoded to this character, so the original bytes could not be written back.
  if (text?.includes("\uFFFD")) return refuse("is not UTF-8", "Convert it, or put Remand's part in by hand.");
  return text;
}

/** `a/b/c` → `a`, `a/b`, `a/b/c` */
function stepsTo(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

async function missingFolders(files: Files, root: string, path: string): Promise<string[]> {
  const missing: string[] = [];
  for (const step of stepsTo(posix.dirname(path))) {
    if (step !== "." && (await files.look(join(root, step))).type === "absent") missing.push(step);
  }
  return missing;
}

/**
 * Records what was installed into a project, so that it can be removed byte for byte. It contains no text of the
 * user's: only the positions of Remand's additions, and hashes of each file before and after.
 */
export interface InstallRecord {
  readonly files: readonly InstalledFile[];
  /** Folders that were created for these files. */
  readonly folders: readonly string[];
}

export interface InstalledFile {
  readonly path: string;
  /** The hash of the file before; `null`: there was no file. */
  readonly before: string | null;
  readonly after: string;
  readonly added: readonly AddedSpan[];
}

const STATE = ".remand";
const IGNORES = "*\n";

/** An unreadable record counts as empty: then only text that is plainly Remand's own is removed. */
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

/** Stored with Remand's other files, in a folder that git ignores; deleted when it has no entries left. */
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
