import { isSecretName } from "../../parse/secrets/secret-literals.ts";

export type Environment = Readonly<Record<string, string>>;

/** The environment of programs, which may depend on the folder they are started in. */
export type EnvironmentIn = Environment | ((folder: string) => Promise<Environment>);

export async function environmentIn(env: EnvironmentIn, folder: string): Promise<Environment> {
  return typeof env === "function" ? env(folder) : env;
}

/**
 * Variables that every program needs: paths, user, language, certificates. None is a secret. Proxies are left out,
 * because their addresses often contain passwords; a user can name them in a setting.
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

/** Returns the variables that a program may see: the usual few, and those named. A name may end with `*`. */
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

/** Whether a variable identifies a person. No setting passes these on. */
const isPersonal = (name: string): boolean => /^REMAND_TOKEN/i.test(name);

/** Returns an environment without the variables that identify a person. */
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
 * Returns the environment of checks: the user's, without secrets and without variables of this process. A variable that
 * the user names is always passed, except those that identify a person.
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
 * Variables about this process or from its starter that would mislead a check: the shell's folder, the package script
 * that started Remand, the repository of a git hook, and Remand's own variables for agents.
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
  // Set by a test runner or terminal for its own children.
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
 * Returns the environment of checks and other verifying commands, without what a test runner that started Remand set
 * for its children. Sets `CI` unless the user has it, so that test runners neither wait for a key nor write snapshots.
 * Keeps Python from writing compiled code beside the sources: Python takes it for fresh if a source of the same size
 * changed within a second, which would mix up trees that follow each other closely.
 */
export function checkEnvironment(env: Environment): Environment {
  const { FORCE_COLOR: _1, CLICOLOR_FORCE: _2, NODE_TEST_CONTEXT: _3, VITEST: _4, JEST_WORKER_ID: _5, ...rest } = env;
  return { CI: "1", ...rest, PYTHONDONTWRITEBYTECODE: "1" };
}
