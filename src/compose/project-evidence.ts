import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Evidence } from "../ports/evidence.ts";
import { readEnvValues } from "../parse/secrets/secrets.ts";
import { createEvidenceStore } from "../adapters/evidence/evidence-store.ts";
import { passedSecrets } from "./checks/check-variables.ts";

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
    secrets: { literals: await projectSecrets(root, config, env), patterns: listedSecrets(config.redact) },
  });
}

/** Every value that a check may have and that must not be kept. */
export async function projectSecrets(
  root: string,
  config: Pick<Config, "env" | "workspace">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  return [...(await envSecrets(root)), ...passedSecrets(root, env, config)];
}

/** The person's own patterns. */
export function listedSecrets(
  redact: readonly string[],
): readonly { readonly kind: string; readonly pattern: RegExp }[] {
  return redact.map((pattern) => ({ kind: "listed", pattern: new RegExp(pattern, "g") }));
}

/** What the `.env` files hold that is no ordinary word. */
export async function envSecrets(root: string): Promise<readonly string[]> {
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
