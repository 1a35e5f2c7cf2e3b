import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Evidence } from "../ports/evidence.ts";
import { type SecretRules, readEnvValues } from "../parse/secrets/secrets.ts";
import { createEvidenceStore } from "../adapters/evidence/evidence-store.ts";
import { learnSecrets, learnVariables, ownRedactor } from "../adapters/process/own-secrets.ts";
import { passedSecrets } from "./checks/check-variables.ts";
import { stateFolder } from "./state-folder.ts";

/**
 * The evidence store of a project. Removes the values of the project's own `.env` files and the secrets that are passed
 * to checks (a check may print all of them), and the patterns that the config lists as secret.
 */
export async function projectEvidence(
  root: string,
  folder: string,
  config: Pick<Config, "redact" | "env" | "workspace">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Evidence> {
  return createEvidenceStore(folder, {
    secrets: await learnProject(root, config, env),
    shownIn: stateFolder(root).logs,
  });
}

/** Teaches the process the secrets of a project. From now on, they are removed wherever text leaves the process. */
export async function learnProject(
  root: string,
  config: Pick<Config, "redact" | "env" | "workspace">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SecretRules> {
  const literals = [...(await envSecrets(root)), ...passedSecrets(root, env, config)];
  const patterns = listedSecrets(config.redact);
  learnVariables(env);
  learnSecrets(
    literals,
    patterns.map(({ pattern }) => pattern),
  );
  return { literals, patterns };
}

/**
 * The secrets to remove from what is shown while no engine runs in this process: those of the process, and the
 * project's list.
 */
export async function shownSecrets(root: string, redact: readonly string[]): Promise<SecretRules> {
  const patterns = listedSecrets(redact);
  learnSecrets(
    await envSecrets(root),
    patterns.map(({ pattern }) => pattern),
  );
  return ownRedactor().rules;
}

/** The patterns that the person listed. */
function listedSecrets(redact: readonly string[]): readonly { readonly kind: string; readonly pattern: RegExp }[] {
  return redact.map((pattern) => ({ kind: "listed", pattern: new RegExp(pattern, "g") }));
}

/** The values of the `.env` files, without ordinary words. */
async function envSecrets(root: string): Promise<readonly string[]> {
  const names = (await readdir(root)).filter((name) => ENV_FILE.test(name) && !SAMPLE.test(name));
  const texts = await Promise.all(names.map((name) => textOf(join(root, name))));
  const values = texts.flatMap(readEnvValues).flatMap((value) => [value, ...value.split("\n")]);
  return [...new Set(values)].filter((value) => value.length >= SHORTEST && !ORDINARY.has(value));
}

const ENV_FILE = /^\.env(?:\..+|-.+|rc)?$/;
/** Sample files are meant to be shown and hold no secrets. */
const SAMPLE = /\.(?:example|sample|template|dist|defaults?)$/;

/** Shorter values are too common: removing them would make texts unreadable. */
const SHORTEST = 8;
/** Values that occur in every project and every log. */
const ORDINARY: ReadonlySet<string> = new Set(["development", "production", "localhost"]);

/** A folder of that name, or an unreadable file, has no values that a check could print either. */
async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
