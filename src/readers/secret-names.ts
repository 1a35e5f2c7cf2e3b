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
