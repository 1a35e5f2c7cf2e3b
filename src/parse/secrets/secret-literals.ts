/** A range of a text that must not be stored, with the kind of secret. */
export interface Secret {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/**
 * Returns the end of a run of characters that begins at `from`. `run` is a repeated character class, and sticky: it
 * cannot backtrack.
 */
export function endOfRun(text: string, from: number, run: RegExp): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

/**
 * Returns the values of an environment (or a `.env` file) that should not be shown. Most values are not secrets, and a
 * log without `production` or `/usr/bin` does not help its reader, so a value counts only if its name says so or if it
 * looks random.
 */
export function secretValues(entries: Readonly<Record<string, string>>): string[] {
  return Object.entries(entries)
    .filter(
      ([name, value]) =>
        value.length >= SHORTEST_LITERAL && (isSecretName(name) ? !PLAIN_VALUE.test(value) : looksRandom(value)),
    )
    .map(([, value]) => value);
}

/**
 * Returns the values of all variables whose names say secret, whatever their form. They are removed from everything
 * that is stored or shown, so short values and plain words, which are common in texts, are left out.
 */
export function secretVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return entries
    .filter(([name, value]) => value.trim().length >= SHORTEST_VALUE && isSecretName(name) && !PLAIN_VALUE.test(value))
    .map(([, value]) => value.trim());
}

const SHORTEST_VALUE = 8;

const PLAIN_VALUE =
  /^(?:true|false|yes|no|none|null|undefined|\d{1,6}|production|development|test|staging|local|localhost|enabled|disabled)$/i;

/** Whether a value looks random: long, without spaces, with letters and digits, and neither a path nor a plain URL. */
function looksRandom(value: string): boolean {
  const isOneWord = /^[A-Za-z0-9+=_-]{20,}$/.test(value);
  return isOneWord && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/**
 * Whether the name of a variable says that its value is a secret. Names are read by their parts (`STRIPE_API_KEY`,
 * `npm_config__authToken`), so that `KEYBOARD_LAYOUT` and `TOKENIZERS_PARALLELISM` do not count.
 */
export function isSecretName(name: string): boolean {
  // The shell's current and previous folder.
  if (name === "PWD" || name === "OLDPWD") return false;
  const parts = partsOf(name);
  return parts.some((part) => SECRET_PARTS.has(part) || SECRET_ENDING.test(part)) || LAST_PARTS.has(parts.at(-1) ?? "");
}

/** Splits a name where the case changes and at everything that is neither a letter nor a digit. */
function partsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1 ");
  return spaced
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== "");
}

const SECRET_PARTS: ReadonlySet<string> = new Set([
  "askpass",
  "auth",
  "cred",
  "creds",
  "jwt",
  "key",
  "keys",
  "oauth",
  "pepper",
  "private",
  "pwd",
  "salt",
  "signature",
  "webhook",
]);

/** A word with only one meaning, possibly after another word: `PGPASSWORD`, `GHTOKEN`. */
const SECRET_ENDING = /(?:password|passwd|passphrase|passcode|secret|token|credential|apikey)s?$/;

/** Elsewhere in a name these have other meanings: `PASS_THROUGH`, `PAT_VERSION`. */
const LAST_PARTS: ReadonlySet<string> = new Set(["pass", "pat"]);

/** Shorter values occur in many words; removing them would make texts unreadable and protect nothing. */
const SHORTEST_LITERAL = 4;

/**
 * Returns every usual spelling of a value: as it is, as JSON and URLs write it, and in base64, also inside a longer
 * text such as `user:password`.
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

/**
 * Returns the long lines of a key with several lines, because its lines may be printed with other text between them.
 */
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
    // JSON in JSON: agents' clients report the output of tools like this.
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
  // Half of a surrogate pair cannot be encoded in a URL.
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}

const asciiOnly = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Returns the base64 forms of a value. Three bytes become four letters, so a value has three forms, depending on where
 * it begins. Letters that also depend on the text before or after are removed; the rest is the same in every text.
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

/** Encodes without padding. */
function base64Of(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const letters = Math.min(4, Math.ceil(((bytes.length - at) * 8) / 6));
    for (let letter = 0; letter < letters; letter++) text += ALPHABET[(group >> (18 - 6 * letter)) & 63];
  }
  return text;
}

/** Searches for many texts at once. The time does not grow with their number. */
export interface LiteralFinder {
  has(text: string): boolean;
  /** Returns every occurrence. Overlapping ones are merged, so that a text of nothing else does not fill the memory. */
  find(text: string, kind: string): Secret[];
}

/** Makes a finder. Short texts allow only short steps, so they are searched separately from long ones. */
export function createLiteralFinder(forms: Iterable<string>): LiteralFinder {
  const all = [...forms];
  const groups = [all.filter((form) => form.length < LONG), all.filter((form) => form.length >= LONG)];
  const searches = groups.filter((group) => group.length > 0).map(createSearch);
  return {
    has: (text) => searches.some((search) => search(text, 0) !== null),
    find: (text, kind) => searches.flatMap((search) => findAll(search, text, kind)),
  };
}

const LONG = 8;

interface Found {
  readonly start: number;
  readonly end: number;
}

type Search = (text: string, from: number) => Found | null;

function findAll(search: Search, text: string, kind: string): Secret[] {
  const secrets: Secret[] = [];
  let open: Found | null = null;
  for (let next = search(text, 0); next !== null; next = search(text, next.start + 1)) {
    if (open !== null && next.start <= open.end) open = { start: open.start, end: Math.max(open.end, next.end) };
    else {
      if (open !== null) secrets.push({ ...open, kind });
      open = next;
    }
  }
  if (open !== null) secrets.push({ ...open, kind });
  return secrets;
}

/**
 * Makes a search by Wu and Manber's algorithm: first it compares only the first `length` characters of all texts. The
 * last two of the window tell how far it can move before any text can end there.
 */
function createSearch(forms: readonly string[]): Search {
  const length = Math.min(...forms.map((form) => form.length));
  const steps = new Uint8Array(TABLE).fill(Math.min(length - 1, 255));
  const candidates = new Map<number, string[]>();
  for (const form of forms) {
    for (let at = 1; at < length; at++) {
      const pair = pairAt(form, at);
      steps[pair] = Math.min(steps[pair]!, length - 1 - at);
    }
    const last = pairAt(form, length - 1);
    candidates.set(last, [...(candidates.get(last) ?? []), form]);
  }
  return (text, from) => {
    for (let at = from + length - 1; at < text.length;) {
      const pair = pairAt(text, at);
      const step = steps[pair]!;
      if (step > 0) {
        at += step;
        continue;
      }
      const start = at - length + 1;
      let end = 0;
      for (const form of candidates.get(pair) ?? [])
        if (form.length > end - start && text.startsWith(form, start)) end = start + form.length;
      if (end > 0) return { start, end };
      at++;
    }
    return null;
  };
}

const TABLE = 8192;

const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at - 1) * 61) ^ text.charCodeAt(at)) & (TABLE - 1);
