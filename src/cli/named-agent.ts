import { join } from "node:path";
import { RemandError } from "../domain/error.ts";
import { nearMiss } from "../stdx/near-miss.ts";
import type { Checkout } from "./command.ts";
import { loadConfig } from "./load-config.ts";

/** Agents that Remand drives by itself, without a command of the user's. */
export const CLIENTS: readonly string[] = ["claude", "codex"];

/**
 * Settings that make an agent the developer: one of the project's config by its role, with its role file and the
 * variables that the project's agents see; or a client by its own name.
 */
export async function namedAgent(
  checkout: Checkout,
  name: string,
  options: { readonly config?: string | undefined },
): Promise<readonly string[]> {
  const { config } = await loadConfig(checkout, options);
  const agents = config?.agents ?? {};
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (config !== null && agent !== undefined && (agent.use !== undefined || agent.command !== undefined)) {
    const usual = join(".claude", "agents", `${name}.md`);
    const hasFile = agent.file !== undefined || (await checkout.files.read(join(checkout.cwd, usual))) !== null;
    const file = hasFile ? { file: agent.file ?? usual } : {};
    // JSON is YAML: quoted so, a command may hold any character.
    return [`agents.developer=${JSON.stringify({ ...agent, ...file })}`, `env=${JSON.stringify(config.env)}`];
  }
  if (CLIENTS.includes(name)) return [`agents.developer.use=${name}`];
  if (config === null)
    throw new RemandError("config-invalid", "the config is wrong, so its agents are not known", "See remand config.");
  const known = [...new Set([...Object.keys(agents), ...CLIENTS])];
  const meant = nearMiss(name, known);
  const hint = meant === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${meant}?`;
  throw new RemandError("usage", `there is no agent ${name}`, hint);
}
