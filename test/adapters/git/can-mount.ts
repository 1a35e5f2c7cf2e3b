import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canMountFolders } from "../../../src/adapters/process/mounted-folder.ts";

export async function canMount(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "remand-mount-"));
  try {
    return await canMountFolders(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
