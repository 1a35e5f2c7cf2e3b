import { SHORTEST_LITERAL } from "./literal-forms.ts";

/** A place in a text that must not be kept, and what it is called there. */
export interface Secret {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Where a run of characters ends that begins at `from`. `run` is a class, repeated, and sticky: it cannot backtrack. */
export function endOfRun(text: string, from: number, run: RegExp): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

/**
 * The values of an environment (or of a `.env` file) that should not be shown. Most values are no secrets, and a log
 * without `production` or `/usr/bin` in it helps no reader: a value counts if its name says so, or if it looks made up.
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
 * The values of all variables whose names say secret, whatever they look like. They are taken out of everything that
 * is stored or shown, so short ones and plain words, which texts are full of, are not among them.
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

/** Long, without spaces, of letters and digits both, and neither a path nor a plain address. */
function looksRandom(value: string): boolean {
  const isOneWord = /^[A-Za-z0-9+=_-]{20,}$/.test(value);
  return isOneWord && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/**
 * Does the name of a variable say that its value is a secret? Names are read by their parts (`STRIPE_API_KEY`,
 * `npm_config__authToken`), so that `KEYBOARD_LAYOUT` and `TOKENIZERS_PARALLELISM` are none.
 */
export function isSecretName(name: string): boolean {
  // The shell's own: where it is, and where it was.
  if (name === "PWD" || name === "OLDPWD") return false;
  const parts = partsOf(name);
  return parts.some((part) => SECRET_PARTS.has(part) || SECRET_ENDING.test(part)) || LAST_PARTS.has(parts.at(-1) ?? "");
}

/** Split where the case changes and at everything that is no letter or digit. */
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

/** A word that means nothing else, with or without another one before it: `PGPASSWORD`, `GHTOKEN`. */
const SECRET_ENDING = /(?:password|passwd|passphrase|passcode|secret|token|credential|apikey)s?$/;

/** Elsewhere in a name these mean other things: `PASS_THROUGH`, `PAT_VERSION`. */
const LAST_PARTS: ReadonlySet<string> = new Set(["pass", "pat"]);
