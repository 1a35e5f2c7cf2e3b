import { sep } from "node:path";

/** The folders that programs in a sandbox find at another path now: the user's own, where their tools look for files. */
const shown = new Map<string, string>();

export interface ShownFolder {
  readonly folder: string;
  /** Where programs in a sandbox find it. */
  readonly at: string;
}

/** From now on, and until the function that is returned is called, programs in a sandbox find the folder there. */
export function showFolder({ folder, at }: ShownFolder): () => void {
  shown.set(folder, at);
  return () => void shown.delete(folder);
}

/** The folder around a path that is shown elsewhere; `null`: programs find the path where it is. */
export function shownFolderAround(path: string): ShownFolder | null {
  for (const [folder, at] of shown) if (`${path}${sep}`.startsWith(`${folder}${sep}`)) return { folder, at };
  return null;
}

/** The path by which programs in a sandbox know this one. */
export function pathInside(path: string): string {
  const around = shownFolderAround(path);
  return around === null ? path : `${around.at}${path.slice(around.folder.length)}`;
}

/** What a program in a sandbox is told about the folder: a text with the path that it finds there. */
export const textInside = (text: string, { folder, at }: ShownFolder): string => renamePath(text, folder, at);

/** What a program that ran in `path` says, with the paths that this process knows. */
export function textOutside(text: string, path: string): string {
  const around = shownFolderAround(path);
  return around === null ? text : renamePath(text, around.at, around.folder);
}

/** Another path that only begins alike stays. */
const renamePath = (text: string, from: string, to: string): string =>
  text.includes(from) ? text.replace(pattern(from), () => to) : text;

const pattern = (path: string): RegExp =>
  new RegExp(`${path.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}(?![\\w-]|\\.\\w)`, "g");
