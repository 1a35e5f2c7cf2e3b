/** Shorter ones stand in every other word; taking them out would shred the text and protect nothing. */
export const SHORTEST_LITERAL = 4;

/**
 * Every way in which a listed value is usually written: as it is, as JSON and URLs write it, and in base64, also in
 * the midst of a longer text such as `user:password`.
 */
export function literalForms(literals: readonly string[]): ReadonlySet<string> {
  const forms = new Set<string>();
  const add = (form: string): void => {
    if (form.length >= SHORTEST_LITERAL) forms.add(form);
  };
  for (const literal of literals) {
    for (const written of [literal, ...linesOf(literal)]) for (const form of textForms(written)) add(form);
    for (const form of base64Forms(literal)) add(form);
  }
  return forms;
}

/** A key of many lines is printed with other things between them. */
function linesOf(literal: string): readonly string[] {
  if (!literal.includes("\n")) return [];
  return literal
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= LONG_LINE);
}

const LONG_LINE = 16;

function textForms(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inUrl = percentEncoded(text);
  return [
    text,
    inJson,
    // JSON in JSON, as agents' clients report what a tool printed.
    JSON.stringify(inJson).slice(1, -1),
    inJson.replaceAll("/", "\\/"),
    asciiOnly(inJson),
    inUrl,
    inUrl.replaceAll("%20", "+"),
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inUrl.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
  ];
}

function percentEncoded(text: string): string {
  // Half of a surrogate pair has no form in a URL.
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}

const asciiOnly = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Three bytes become four letters, so a value looks different by where it begins among them. Letters that also depend
 * on what stands before or after are left away; what remains is the same in every text.
 */
function base64Forms(literal: string): readonly string[] {
  const bytes = new TextEncoder().encode(literal);
  const forms = [0, 1, 2].flatMap((before) => {
    const letters = base64Of([...[0, 0].slice(0, before), ...bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return letters.slice(first, last);
  });
  return forms
    .filter((form) => form.length >= LEAST_ENCODED)
    .flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_"), form.replaceAll("/", "\\/")]);
}

/** Fewer letters could be part of any hash. */
const LEAST_ENCODED = 8;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Without padding. */
function base64Of(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const letters = Math.min(4, Math.ceil(((bytes.length - at) * 8) / 6));
    for (let letter = 0; letter < letters; letter++) text += ALPHABET[(group >> (18 - 6 * letter)) & 63];
  }
  return text;
}
