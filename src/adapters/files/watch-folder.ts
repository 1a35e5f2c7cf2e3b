import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { byText } from "../../stdx/sorted-map.ts";

/**
 * Calls back when a file of the folder was made, changed or taken away. It looks every now and then: what systems tell
 * by themselves differs between them, and is lost on network drives and in containers.
 */
export function watchFolder(folder: string, changed: () => void, everyMs = 1000): () => void {
  let before: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const look = async (): Promise<void> => {
    const now = await stateOf(folder);
    if (isOver) return;
    if (before !== null && now !== before) changed();
    before = now;
    timer = setTimeout(() => void look(), everyMs);
  };
  void look();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** Names, times and sizes, as one text. A folder that is not there, or a file that goes in between, is a state too. */
async function stateOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const parts = await Promise.all(
    names.map(async (name) => {
      const seen = await stat(join(folder, name)).catch(() => null);
      return seen === null ? name : `${name} ${seen.mtimeMs} ${seen.size}`;
    }),
  );
  return parts.sort(byText).join("\n");
}
