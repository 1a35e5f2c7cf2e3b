"use strict";

/**
 * Finds the code of a file's lines in the script that was made from it. The script may contain the file unchanged,
 * inside a wrapper, or compiled with an inline source map; otherwise the positions are unknown.
 */
function placesOfLines(source, text, lines) {
  const at = source.indexOf(text.trimEnd());
  if (at !== -1 && text.trim() !== "") return asWritten(text, lines, at);
  const map = inlineMap(source);
  return map === null ? null : asMapped(source, map, new Set(lines));
}

function asWritten(text, lines, shift) {
  const starts = lineStarts(text);
  const rows = text.split("\n");
  return new Map(
    lines
      .filter((line) => (rows[line - 1] ?? "").trim() !== "")
      .map((line) => [line, [shift + starts[line - 1] + rows[line - 1].search(/\S/)]]),
  );
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function inlineMap(source) {
  const found = source
    .slice(source.lastIndexOf("//# sourceMappingURL="))
    .match(/^\/\/# sourceMappingURL=data:application\/json;(?:charset=[\w-]+;)?base64,([\w+/=]+)/);
  if (found === null) return null;
  try {
    const map = JSON.parse(Buffer.from(found[1], "base64").toString("utf8"));
    // A map of several files does not say which of them is meant.
    return map.sources?.length === 1 && typeof map.mappings === "string" ? map : null;
  } catch {
    return null;
  }
}

/** The first line of a script is skipped: a wrapper may have moved it, and imports are collected there. */
function asMapped(source, { mappings }, wanted) {
  const starts = lineStarts(source);
  const places = new Map();
  let original = 0;
  for (const [row, segments] of mappings.split(";").entries()) {
    let column = 0;
    for (const segment of segments === "" ? [] : segments.split(",")) {
      const [moved = 0, , line = 0] = numbersIn(segment);
      column += moved;
      original += line;
      if (row === 0 || segment.length < 4 || !wanted.has(original + 1)) continue;
      const own = places.get(original + 1) ?? [];
      places.set(original + 1, own);
      own.push((starts[row] ?? source.length) + column);
    }
  }
  return places;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes one segment of a source map: five bits per digit, lowest first, with the sign in the lowest bit. */
function numbersIn(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

module.exports = { placesOfLines };
