import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import {
  allowedEnvironment,
  checkVariables,
  type CheckVariables,
  type Environment,
} from "../../adapters/process/environment.ts";
import { COOKIE_VARIABLE } from "../../adapters/process/leftovers.ts";
import { secretValues } from "../../parse/secrets/secret-literals.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** What the checks of a project see of the environment, and what is withheld from them. */
export const checkVariablesOf = (env: EnvVariables, { env: named }: Pick<Config, "env">): CheckVariables =>
  checkVariables(env, [...named, COOKIE_VARIABLE]);

/**
 * What `workspace.setup` sees: what checks see, and the logins of package registries. Those are named by
 * `workspace.env`, or by `${NAME}` in the registry settings of the user and of the user's own checkout.
 */
export function setupVariablesOf(
  root: string,
  env: EnvVariables,
  config: Pick<Config, "env" | "workspace">,
): Environment {
  return checkVariables(env, setupNames(root, env, config)).seen;
}

function setupNames(root: string, env: EnvVariables, { env: named, workspace }: Pick<Config, "env" | "workspace">) {
  return [...named, ...(workspace.env ?? []), ...registryNames(root, env), "npm_config_*"];
}

/** The values that must not be kept: of variables that are passed although their names, or looks, say secret. */
export function passedSecrets(
  root: string,
  env: EnvVariables,
  config: Pick<Config, "env" | "workspace">,
): readonly string[] {
  const usual = allowedEnvironment(env);
  const named = checkVariables(env, setupNames(root, env, config)).seen;
  const { seen: unnamed } = checkVariables(env);
  const passed = Object.entries(named).filter(([name]) => !Object.hasOwn(unnamed, name) && !Object.hasOwn(usual, name));
  return secretValues(Object.fromEntries(passed));
}

/** Variables that the settings of npm, pnpm, yarn and bun take their logins from. */
function registryNames(root: string, env: EnvVariables): readonly string[] {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const files = [
    ...["npmrc", "yarnrc.yml"].flatMap((name) => [root, home].map((folder) => folder && join(folder, `.${name}`))),
    join(root, "bunfig.toml"),
    env["npm_config_userconfig"],
    env["NPM_CONFIG_USERCONFIG"],
  ];
  return files.flatMap((file) => (file === undefined || file === "" ? [] : variablesIn(textOf(file))));
}

/** `${NAME}`, `${NAME-default}`, `${NAME?}`, and bun's `$NAME`. */
function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{([A-Za-z_]\w*)[^}]*\}|\$([A-Za-z_]\w*)/g)].map(([, braced, bare]) => (braced ?? bare)!);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // A file that is not there, or may not be read, names no variable; npm itself says what is wrong with it.
    return "";
  }
}
