import { chmodSync, existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { readOr } from "./process-table.ts";

/** How the folders are called that sandboxes keep their overlays in, one for each program. */
export const CELL_PREFIX = "remand-cell-";

/** After the program's end. Nothing else is ever removed, wherever the path comes from. */
export function removeCellFolder(path: string): void {
  if (!basename(path).startsWith(CELL_PREFIX)) return;
  // The kernel makes these folders so that their owner cannot remove them.
  for (let at = 0; existsSync(join(path, `${at}`)); at++)
    readOr(() => chmodSync(join(path, `${at}`, "work", "work"), 0o700), undefined);
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
