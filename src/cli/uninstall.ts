import { join } from "node:path";
import type { Files } from "../ports/files.ts";
import { sha256 } from "../stdx/sha256.ts";
import { without } from "../writers/insertion.ts";
import { isBare, removeFromJson } from "../writers/json-removal.ts";
import { removeFromToml } from "../writers/toml-edit.ts";
import type { Part } from "./client-parts.ts";
import { readRecord, writeRecord, type InstalledFile } from "./install-record.ts";
import { editableText, type Deed } from "./install.ts";

interface Planned extends Deed {
  /** `null`: the file goes. */
  readonly text?: string | null;
}

/**
 * Takes the parts out. A file that is as Remand left it becomes what it was, to the byte, or goes where there was
 * none; from one that somebody has changed since only Remand's own part is taken, and that is said.
 */
export async function uninstall(
  files: Files,
  root: string,
  parts: readonly Part[],
  isDry: boolean,
): Promise<readonly Deed[]> {
  const record = await readRecord(files, root);
  const planned: Planned[] = [];
  for (const part of parts) {
    const text = await editableText(files, root, part.path);
    const known = record.files.find(({ path }) => path === part.path);
    if (text !== null) planned.push(asItWas(part.path, text, known) ?? withoutOurs(part, text, known));
  }
  if (!isDry) {
    for (const { path, text } of planned) {
      if (text === null) await files.remove(join(root, path));
      else if (text !== undefined) await files.write(join(root, path), text);
    }
    const gone = new Set(parts.map(({ path }) => path));
    await writeRecord(files, root, {
      files: record.files.filter(({ path }) => !gone.has(path)),
      folders: await withoutEmpty(files, root, record.folders),
    });
  }
  return planned.map(({ path, did, why }) => ({ path, did, why }));
}

/** The file as it was before, where it is as it was left; `null` where that cannot be shown. */
function asItWas(path: string, text: string, known: InstalledFile | undefined): Planned | null {
  if (known === undefined || sha256(text) !== known.after) return null;
  if (known.before === null) return { path, did: "removed", why: "", text: null };
  const before = without(text, known.added);
  return sha256(before) === known.before ? { path, did: "restored", why: "", text: before } : null;
}

function withoutOurs(part: Part, text: string, known: InstalledFile | undefined): Planned {
  const { path } = part;
  const since = known === undefined ? "there is no record here of how it was" : "it was changed since";
  if (part.type === "file") {
    if (text === part.text) return { path, did: "removed", why: "", text: null };
    return { path, did: "left", why: `${since}, so it is yours` };
  }
  const cut = part.type === "json" ? removeFromJson(text, part.wishes) : removeFromToml(text, part.table);
  if (cut === null) return { path, did: "there", why: "nothing of Remand's was found in it" };
  const isEmpty = part.type === "json" ? isBare(cut) : cut.trim() === "";
  if (known?.before === null && isEmpty) return { path, did: "removed", why: "", text: null };
  return { path, did: "cut", why: `${since}: only Remand's part was taken out`, text: cut };
}

/** Folders that were made for Remand's files go when nothing is left in them, the innermost first. */
async function withoutEmpty(files: Files, root: string, folders: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    const standing = await files.look(join(root, folder));
    if (standing.type !== "folder") continue;
    if (standing.entries.length === 0) await files.remove(join(root, folder));
    else left.push(folder);
  }
  return left;
}
