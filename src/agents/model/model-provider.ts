import { createRequire } from "node:module";
import { join } from "node:path";
import type { AgentProbe } from "../client/client.ts";

/** Returns the packages that a project installs for a provider's models. */
export const packagesFor = (provider: string): readonly [ai: string, library: string] => ["ai", `@ai-sdk/${provider}`];

/** Returns the provider in `provider/model`; `null` if the name has none. */
export function providerIn(model: string | null | undefined): string | null {
  return /^([\w-]+)\/.+$/.exec(model ?? "")?.[1] ?? null;
}

/** Returns the name of the variable with the provider's key, as in its package. */
function keyVariableOf(provider: string): string {
  return provider === "google" ? "GOOGLE_GENERATIVE_AI_API_KEY" : `${prefixOf(provider)}_API_KEY`;
}

/** Whether the provider always needs an API key. Others may have another kind of login, or run on this machine. */
const goesByKey = (provider: string): boolean => KEYED.has(provider);

const KEYED = new Set([
  "anthropic",
  "cerebras",
  "cohere",
  "deepseek",
  "fireworks",
  "google",
  "groq",
  "mistral",
  "openai",
  "perplexity",
  "xai",
]);

const addressVariableOf = (provider: string): string => `${prefixOf(provider)}_BASE_URL`;

const prefixOf = (provider: string): string => provider.replaceAll("-", "_").toUpperCase();

/** Whether the project has the package, by Node's own resolution. */
export function hasPackage(root: string, name: string): boolean {
  try {
    packagesOf(root).resolve(name);
    return true;
  } catch {
    return false;
  }
}

export function loadPackage(root: string, name: string): Readonly<Record<string, unknown>> {
  return packagesOf(root)(name) as Readonly<Record<string, unknown>>;
}

const packagesOf = (root: string): NodeJS.Require => createRequire(join(root, "package.json"));

/** Returns the package's function that makes a provider: `createAnthropic`, `createOpenAI`, `createGoogle…`. */
export function makerIn(library: Readonly<Record<string, unknown>>): Maker | null {
  const found = Object.entries(library).find(([key, value]) => /^create[A-Z]/.test(key) && typeof value === "function");
  return found === undefined ? null : (found[1] as Maker);
}

type Maker = (options: object) => (model: string) => unknown;

export function settingsFor(provider: string, source: Readonly<Record<string, string | undefined>>): object {
  const apiKey = source[keyVariableOf(provider)];
  const address = source[addressVariableOf(provider)];
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(address === undefined ? {} : { baseURL: withVersion(provider, address) }),
    // This package serves many providers, so it needs a name and must be told their abilities.
    ...(provider === "openai-compatible" ? { name: provider, supportsStructuredOutputs: true } : {}),
  };
}

/**
 * Adds the version to Anthropic's address: Anthropic's own clients, such as Claude Code, expect the address without it,
 * this package with it.
 */
function withVersion(provider: string, address: string): string {
  return provider === "anthropic" && /^https?:\/\/[^/]+\/?$/.test(address)
    ? `${address.replace(/\/$/, "")}/v1`
    : address;
}

/** Checks whether a model is named, its packages can be loaded, and there is a key. No request is sent. */
export function modelProbe(
  root: string,
  model: string | null,
  source: Readonly<Record<string, string | undefined>>,
): AgentProbe {
  const problem = (detail: string, fix: string): AgentProbe => ({ name: "model", ok: false, detail, fix });
  const provider = providerIn(model);
  if (model === null || provider === null)
    return problem(
      model === null ? "no model is named in the config" : `${model} does not say its provider`,
      "Name it with its provider: `model: anthropic/claude-opus-4-5`.",
    );
  const packages = packagesFor(provider);
  const install = `npm install --save-dev ${packages.join(" ")}`;
  const missing = packages.filter((name) => !hasPackage(root, name));
  if (missing.length > 0)
    return problem(`${model}: ${missing.join(" and ")} not installed`, `Install it in the project: ${install}`);
  try {
    if (makerIn(loadPackage(root, packages[1])) === null)
      return problem(`${model}: ${packages[1]} makes no provider`, `Install another version of it: ${install}`);
    if (typeof loadPackage(root, packages[0])["generateText"] !== "function")
      return problem(`${model}: this version of ${packages[0]} is too old`, `Install a newer one: ${install}`);
  } catch (error) {
    return problem(
      `${model}: ${packages.join(" or ")} cannot be loaded: ${(error as Error).message}`,
      `Install it again: ${install}`,
    );
  }
  const key = keyVariableOf(provider);
  const hasKey = (source[key] ?? "") !== "";
  if (!hasKey && goesByKey(provider)) return problem(`${model}: no key`, `Set ${key}.`);
  const address = source[addressVariableOf(provider)];
  const login = hasKey ? `key in ${key}` : "login unknown";
  const place = address === undefined || address === "" ? "" : `, at ${address}`;
  return { name: "model", ok: true, detail: `${model}, ${login}${place}`, fix: "" };
}
