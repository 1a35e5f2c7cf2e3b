import { grow, without, type GrownText } from "./added-text.ts";

/** A table to add at the end of a TOML file. */
export interface TomlTable {
  /** `["mcp_servers", "remand"]` */
  readonly name: readonly [string, string];
  /** The table's lines, without the heading. */
  readonly lines: readonly string[];
}

export type TomlEdit =
  | { readonly ok: true; readonly grown: GrownText }
  | { readonly ok: false; readonly message: string };

/**
 * Adds a table at the end, where TOML always allows one. Refuses texts for which that is wrong: a text that ends inside
 * a string, or a parent table that was written as an inline value.
 */
export function addToToml(start: GrownText, table: TomlTable): TomlEdit {
  const { text } = start;
  const [parent, child] = table.name;
  if (!isWhole(text)) return { ok: false, message: "a string in it does not end" };
  // Names may be quoted, so this searches the text itself: a false match only leaves the file unchanged.
  if (headingOf(parent, child).test(text) || dottedKey(parent, child).test(text)) return { ok: true, grown: start };
  if (asOneValue(parent).test(text))
    return { ok: false, message: `"${parent}" is written as one value there, which nothing can be added to` };
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  const piece = `${gap}${[`[${parent}.${child}]`, ...table.lines].join(eol)}${eol}`;
  return { ok: true, grown: grow(start, text.length, piece) };
}

/** Removes the table, wherever it is now, if it is unchanged. */
export function removeFromToml(text: string, table: TomlTable): string | null {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = [`[${table.name.join(".")}]`, ...table.lines].join(eol);
  const at = text.indexOf(block);
  if (at < 0) return null;
  const before = text.slice(0, at).endsWith(eol + eol) ? eol.length : 0;
  const after = text.startsWith(eol, at + block.length) ? eol.length : 0;
  return without(text, [{ at: at - before, length: before + block.length + after }]);
}

const quotedKey = (name: string): string => String.raw`["']?${name}["']?`;

const headingOf = (parent: string, child: string): RegExp =>
  new RegExp(String.raw`^[ \t]*\[[ \t]*${quotedKey(parent)}[ \t]*\.[ \t]*${quotedKey(child)}[ \t]*[\].]`, "m");

const dottedKey = (parent: string, child: string): RegExp =>
  new RegExp(String.raw`^[ \t]*${quotedKey(parent)}[ \t]*\.[ \t]*${quotedKey(child)}[ \t]*[.=]`, "m");

const asOneValue = (parent: string): RegExp =>
  new RegExp(String.raw`^[ \t]*${quotedKey(parent)}[ \t]*=|^[ \t]*\[\[[ \t]*${quotedKey(parent)}[ \t]*\]\]`, "m");

/** Whether every string is closed. Text after an open string would be part of it. */
function isWhole(text: string): boolean {
  const part = /"""(?:\\[^]|[^\\])*?"""|'''[^]*?'''|"(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*'|#[^\r\n]*/g;
  return !/["']/.test(text.replaceAll(part, ""));
}
