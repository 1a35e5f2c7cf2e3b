import { grow, without, type GrownText } from "./added-text.ts";

/** A table of a TOML file, as it is to stand at its end. */
export interface TomlTable {
  /** `["mcp_servers", "remand"]` */
  readonly name: readonly [string, string];
  /** Its lines, without the heading. */
  readonly lines: readonly string[];
}

export type TomlEdit =
  | { readonly ok: true; readonly grown: GrownText }
  | { readonly ok: false; readonly message: string };

/**
 * Puts a table at the end, where TOML lets one stand whatever is before it. What would make that wrong is refused:
 * a text that ends inside a string, or a parent that was written as one value and cannot be added to.
 */
export function addToToml(start: GrownText, table: TomlTable): TomlEdit {
  const { text } = start;
  const [parent, child] = table.name;
  if (!isWhole(text)) return { ok: false, message: "a string in it does not end" };
  // Names may stand in quotes, so these are looked for in the text itself: one too many found only leaves it alone.
  if (headingOf(parent, child).test(text) || dottedKey(parent, child).test(text)) return { ok: true, grown: start };
  if (asOneValue(parent).test(text))
    return { ok: false, message: `"${parent}" is written as one value there, which nothing can be added to` };
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  const piece = `${gap}${[`[${parent}.${child}]`, ...table.lines].join(eol)}${eol}`;
  return { ok: true, grown: grow(start, text.length, piece) };
}

/** Takes the table out, wherever it stands now, if it says what was put there. */
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

/** Does every string end? Whatever is behind one that does not would be part of it. */
function isWhole(text: string): boolean {
  const part = /"""(?:\\[^]|[^\\])*?"""|'''[^]*?'''|"(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*'|#[^\r\n]*/g;
  return !/["']/.test(text.replaceAll(part, ""));
}
