import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { evidenceId, type EvidenceId } from "../../domain/ids.ts";
import { isEvidenceId, unpacked } from "./packed.ts";

/** The files of a store of evidence, for whoever takes them to another place. */
export interface EvidenceFile {
  readonly id: EvidenceId;
  /** As it is kept; `null` where the file is not what its name says. */
  read(): Promise<Buffer | null>;
}

export async function evidenceFiles(folder: string): Promise<readonly EvidenceFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => {
    const parent = entry.parentPath.slice(-2);
    const id = evidenceId(`${parent}${entry.name.replace(/\.gz$/, "")}`);
    if (!entry.isFile() || !isEvidenceId(id)) return [];
    const path = join(entry.parentPath, entry.name);
    const read = async (): Promise<Buffer | null> => {
      const packed = await readFile(path);
      return (await unpacked(packed, id)) === null ? null : packed;
    };
    return [{ id, read }];
  });
}
