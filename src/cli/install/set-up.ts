import { join } from "node:path";
import type { Checkout } from "../../app/command.ts";
import type { Files } from "../../ports/files.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { without } from "../../write/edits/added-text.ts";
import { valueInJson, isBare, removeFromJson } from "../../write/edits/json-edit.ts";
import { removeFromToml } from "../../write/edits/toml-edit.ts";
import { type SetupPart, type SetupName, partsOf } from "./client-parts.ts";
import { type FileAction, type InstalledFile, editableText, install, readRecord, writeRecord } from "./install.ts";

export interface SetupSpec {
  readonly setups: readonly SetupName[];
  readonly isDry: boolean;
  readonly isRemoval: boolean;
}

/** Installs or removes the parts of these setups, and returns what the person has to know about them. */
export async function setUp(
  { cwd, files }: Checkout,
  { setups, isDry, isRemoval }: SetupSpec,
): Promise<{ readonly deeds: readonly FileAction[]; readonly next: readonly string[] }> {
  const parts: SetupPart[] = [];
  for (const setup of setups) parts.push(...(await partsOf(setup, files)));
  if (isRemoval) return { deeds: await uninstall(files, cwd, parts, isDry), next: [] };
  const deeds = await install(files, cwd, parts, isDry);
  if (isDry) return { deeds, next: [] };
  const isOff = setups.includes("claude") && (await hooksAreOff(files, cwd));
  const hasConfig = (await files.read(join(cwd, "remand.yaml"))) !== null;
  const isInside = setups.some((setup) => setup !== "roles");
  const without = "next: remand init; without a remand.yaml the hook does nothing";
  return {
    deeds,
    next: [
      ...setups.flatMap((setup) => NEXT[setup]),
      ...(isOff ? [OFF] : []),
      ...(hasConfig || !isInside ? [] : [without]),
    ],
  };
}

/** Whether the user's settings switch all hooks off, which would make the installed hooks useless without a notice. */
async function hooksAreOff(files: Checkout["files"], root: string): Promise<boolean> {
  const text = (await files.read(join(root, ".claude/settings.json"))) ?? "";
  return valueInJson(text, ["disableAllHooks"]) === true;
}

const OFF = "no hook runs yet: .claude/settings.json says disableAllHooks";

/** The steps that each client requires from the person before it uses the installed files. */
const NEXT: { readonly [S in SetupName]: readonly string[] } = {
  claude: ["Claude Code asks once whether it may use the server remand of .mcp.json; say yes to have its tools"],
  codex: [
    "Codex runs the hooks after you have trusted the project and, in /hooks, these two; until then it skips them",
  ],
  roles: ["the roles are yours now: change them as you like"],
};

const WORDS: { readonly [D in FileAction["did"]]: readonly [now: string, dry: string] } = {
  wrote: ["wrote", "would write"],
  changed: ["added to", "would add to"],
  there: ["unchanged", "unchanged"],
  left: ["left", "would leave"],
  removed: ["removed", "would remove"],
  restored: ["restored", "would restore"],
  cut: ["changed", "would change"],
};

export function deedLines(deeds: readonly FileAction[], isDry: boolean): string {
  if (deeds.length === 0) return "nothing of it is here\n";
  const said = deeds.map(({ path, did, why }) => [WORDS[did][isDry ? 1 : 0], `${path}${why === "" ? "" : `: ${why}`}`]);
  const width = Math.max(...said.map(([word]) => word!.length));
  return said.map(([word, rest]) => `${word!.padEnd(width)}  ${rest}\n`).join("");
}

interface PlannedPart extends FileAction {
  /** The new text; `null`: the file is deleted. */
  readonly text?: string | null;
}

/**
 * Removes the parts. A file that was not changed since is restored byte for byte, or deleted if Remand created it; from
 * a file that was changed, only Remand's part is removed, and the report says so.
 */
async function uninstall(
  files: Files,
  root: string,
  parts: readonly SetupPart[],
  isDry: boolean,
): Promise<readonly FileAction[]> {
  const record = await readRecord(files, root);
  const planned: PlannedPart[] = [];
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

/** The file as it was before Remand changed it; `null` if the user has changed it since, or there is no record. */
function asItWas(path: string, text: string, known: InstalledFile | undefined): PlannedPart | null {
  if (known === undefined || sha256(text) !== known.after) return null;
  if (known.before === null) return { path, did: "removed", why: "", text: null };
  const before = without(text, known.added);
  return sha256(before) === known.before ? { path, did: "restored", why: "", text: before } : null;
}

function withoutOurs(part: SetupPart, text: string, known: InstalledFile | undefined): PlannedPart {
  const { path } = part;
  const since = known === undefined ? "there is no record here of how it was" : "it was changed since";
  if (part.type === "file") {
    if (text === part.text) return { path, did: "removed", why: "", text: null };
    return { path, did: "left", why: `${since}, so it is yours` };
  }
  const cut = part.type === "json" ? removeFromJson(text, part.additions) : removeFromToml(text, part.table);
  if (cut === null) return { path, did: "there", why: "nothing of Remand's was found in it" };
  const isEmpty = part.type === "json" ? isBare(cut) : cut.trim() === "";
  if (known?.before === null && isEmpty) return { path, did: "removed", why: "", text: null };
  return { path, did: "cut", why: `${since}: only Remand's part was taken out`, text: cut };
}

/** Deletes folders that were created for Remand's files and are empty now, the innermost first. */
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
