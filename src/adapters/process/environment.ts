export type Environment = Readonly<Record<string, string>>;

/** What programs see, where that depends on the folder they are started in. */
export type EnvironmentIn = Environment | ((folder: string) => Promise<Environment>);

export async function environmentIn(env: EnvironmentIn, folder: string): Promise<Environment> {
  return typeof env === "function" ? env(folder) : env;
}

/**
 * What any program needs to find itself, its user, its language and its certificates. Nothing here is a secret;
 * proxies are left out because their addresses often hold passwords, so a user names them.
 */
const USUAL = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "TMPDIR",
  "TMP",
  "TEMP",
  "CI",
  "XDG_*",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  // Windows does not start programs without these.
  "SystemRoot",
  "SYSTEMROOT",
  "ComSpec",
  "COMSPEC",
  "PATHEXT",
  "Path",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
];

/** The part of an environment that a program may see: the usual few, and those named. A name may end with `*`. */
export function allowedEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = [],
): Environment {
  const rules = [...USUAL, ...names];
  const exact = new Set(rules.filter((rule) => !rule.endsWith("*")));
  const beginnings = rules.filter((rule) => rule.endsWith("*")).map((rule) => rule.slice(0, -1));
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    if (exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning))) allowed[name] = value;
  }
  return allowed;
}
