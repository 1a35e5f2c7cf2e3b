import { isSecretName } from "../../parse/secrets/secret-literals.ts";

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
  const isNamed = nameMatcher([...USUAL, ...names]);
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(source))
    if (value !== undefined && isNamed(name) && !isPersonal(name)) allowed[name] = value;
  return allowed;
}

/** By these a person is identified. No setting passes them on. */
const isPersonal = (name: string): boolean => /^REMAND_TOKEN/i.test(name);

/** An environment without what identifies a person. */
export function withoutPersonal(
  source: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(source).filter(([name]) => !isPersonal(name)));
}

export interface CheckVariables {
  readonly seen: Environment;
  /** Left out because their names look like secrets, and no setting names them. */
  readonly withheld: Environment;
}

/**
 * What checks see: the user's environment, without secrets and without what belongs to this process alone. A name that
 * the user gives is passed in any case, but for those that identify a person.
 */
export function checkVariables(
  source: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = [],
): CheckVariables {
  const isNamed = nameMatcher(names);
  const isOwn = nameMatcher(OWN);
  const seen: Record<string, string> = {};
  const withheld: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || isPersonal(name)) continue;
    if (isNamed(name)) seen[name] = value;
    else if (isOwn(name)) continue;
    else if (isSecretName(name)) withheld[name] = value;
    else seen[name] = value;
  }
  return { seen, withheld };
}

/**
 * What says where this process is, or was told by its starter, and would lead a check to another place: the shell's
 * folder, the package script that started Remand, the repository of a git hook, and what Remand itself sets for agents.
 */
const OWN = [
  "_",
  "PWD",
  "OLDPWD",
  "SHLVL",
  "INIT_CWD",
  "npm_command",
  "npm_config_local_prefix",
  "npm_lifecycle_*",
  "npm_package_*",
  "REMAND_*",
  // A test runner's or a terminal's, for the programs that it starts itself.
  "CLICOLOR_FORCE",
  "FORCE_COLOR",
  "JEST_WORKER_ID",
  "NODE_TEST_CONTEXT",
  "NODE_V8_COVERAGE",
  "VITEST",
  "VITEST_*",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_KEY_*",
  "GIT_CONFIG_VALUE_*",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

function nameMatcher(rules: readonly string[]): (name: string) => boolean {
  const exact = new Set(rules.filter((rule) => !rule.endsWith("*")));
  const beginnings = rules.filter((rule) => rule.endsWith("*")).map((rule) => rule.slice(0, -1));
  return (name) => exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/**
 * The variables of a command that checks work: the user's, without what a test runner that started Remand left for its
 * children. `CI` is set unless the user has one: test runners then neither wait for a key nor write snapshots. Python
 * leaves no compiled code beside the sources: it takes that for fresh if a source of the same size changed within a
 * second, so that states which follow each other closely would be mixed up.
 */
export function checkEnvironment(env: Environment): Environment {
  const { FORCE_COLOR: _1, CLICOLOR_FORCE: _2, NODE_TEST_CONTEXT: _3, VITEST: _4, JEST_WORKER_ID: _5, ...rest } = env;
  return { CI: "1", ...rest, PYTHONDONTWRITEBYTECODE: "1" };
}
