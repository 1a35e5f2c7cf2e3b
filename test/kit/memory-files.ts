import type { Files } from "../../src/ports/files.ts";

/** A checkout in memory: paths to texts. */
export function memoryFiles(texts: Readonly<Record<string, string>>): Files {
  const held = new Map(Object.entries(texts));
  return {
    read: (path) => Promise.resolve(held.get(path) ?? null),
    list: (folder, ending) =>
      Promise.resolve(
        [...held.keys()]
          .filter(
            (path) =>
              path.startsWith(`${folder}/`) && path.endsWith(ending) && !path.slice(folder.length + 1).includes("/"),
          )
          .toSorted(),
      ),
    listLinks: () => Promise.resolve([]),
    write: (path, text) => {
      held.set(path, text);
      return Promise.resolve();
    },
    look: (path) => {
      if (held.has(path)) return Promise.resolve({ type: "file", place: path, isReadOnly: false });
      const below = [...held.keys()].filter((each) => each.startsWith(`${path}/`));
      const entries = [...new Set(below.map((each) => each.slice(path.length + 1).split("/")[0]!))].toSorted();
      return Promise.resolve(below.length === 0 ? { type: "absent" } : { type: "folder", place: path, entries });
    },
    remove: (path) => {
      held.delete(path);
      return Promise.resolve();
    },
  };
}
