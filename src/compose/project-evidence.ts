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
 * Where what was printed is kept, without what the project's own `.env` files hold and the secrets that are passed to
 * checks (a check may print all of them), and without what the config says is secret.
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

/** What a project holds and lists as secret. From now on the whole process knows it, and every border takes it out. */
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

/** For what leaves this process while no engine of it works: what the process holds, and what the project lists. */
export async function shownSecrets(root: string, redact: readonly string[]): Promise<SecretRules> {
  const patterns = listedSecrets(redact);
  learnSecrets(
    await envSecrets(root),
    patterns.map(({ pattern }) => pattern),
  );
  return ownRedactor().rules;
}

/** The person's own patterns. */
function listedSecrets(redact: readonly string[]): readonly { readonly kind: string; readonly pattern: RegExp }[] {
  return redact.map((pattern) => ({ kind: "listed", pattern: new RegExp(pattern, "g") }));
}

/** What the `.env` files hold that is no ordinary word. */
async function envSecrets(root: string): Promise<readonly string[]> {
  const names = (await readdir(root)).filter((name) => ENV_FILE.test(name) && !SAMPLE.test(name));
  const texts = await Promise.all(names.map((name) => textOf(join(root, name))));
  const values = texts.flatMap(readEnvValues).flatMap((value) => [value, ...value.split("\n")]);
  return [...new Set(values)].filter((value) => value.length >= SHORTEST && !ORDINARY.has(value));
}

const ENV_FILE = /^\.env(?:\..+|-.+|rc)?$/;
/** Sample files are made to be shown: they hold no secrets. */
const SAMPLE = /\.(?:example|sample|template|dist|defaults?)$/;

/** A shorter value is too common a word: taking it out would take the sense out of the text. */
const SHORTEST = 8;
/** Values that every project has, and every log. */
const ORDINARY: ReadonlySet<string> = new Set(["development", "production", "localhost"]);

/** A folder of that name, or a file that may not be read, holds nothing that a check could print either. */
async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
