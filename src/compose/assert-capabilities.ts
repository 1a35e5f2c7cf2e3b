import { RemandError } from "../core/events/error.ts";
import { type GateName, gatesThat, isWithoutCommands } from "../core/gates/gate.ts";
import { type Policy, roleOfReviewer } from "../core/events/policy.ts";
import type { Story } from "../core/stories/story.ts";
import { GATE_REGISTRY } from "../core/gates/registry.ts";
import type { Config } from "../config/config.ts";
import { rolesOfGate } from "../app/agent-spec.ts";
import { roleName, type RoleName } from "../core/events/ids.ts";
import type { RoleRegistry } from "../ports/agent.ts";
import { inTurn } from "../gates/review/ask-reviewer.ts";

/**
 * Returns the policy as it can be carried out here. A policy that cannot work is refused before anything starts, with
 * the setting that helps.
 */
export function assertPolicyCapabilities(
  policy: Policy,
  gates: ReadonlySet<GateName>,
  { canDeliver, config }: { readonly canDeliver: boolean; readonly config: Pick<Config, "gates" | "forge"> },
): Policy {
  const planned = new Set(policy.phases.flatMap((plan) => plan.gates));
  const missing = [...planned].filter((gate) => !gates.has(gate));
  if (missing.length > 0)
    throw new RemandError(
      "config-invalid",
      `Remand cannot run ${missing.map((gate) => `the ${gate} gate`).join(" or ")} yet`,
      `Leave it out for now: remand run --set 'phases.implement=[integrity, checks]', or the same in remand.yaml.`,
    );
  // Otherwise an agent would be paid for work that this gate has no way to judge.
  const bare = [...planned].find((gate) => isWithoutCommands(gate, config.gates, config.forge.use !== "none"));
  if (bare !== undefined) throw noCommand(policy, bare);
  if (policy.deliver !== "branch" && !canDeliver)
    throw new RemandError(
      "config-invalid",
      `work in a checkout of your own cannot be delivered by ${policy.deliver}`,
      "Set `deliver: branch`.",
    );
  return policy;
}

function noCommand({ phases }: Policy, gate: GateName): RemandError {
  const { what, example } = GATE_REGISTRY[gate].needs!;
  const forge = what === "commands-or-forge" ? ", or a forge that runs CI: forge: { use: github }" : "";
  const { phase, gates } = phases.find((plan) => plan.gates.includes(gate))!;
  const without = `phases.${phase}=[${gates.filter((each) => each !== gate).join(", ")}]`;
  return new RemandError(
    "config-invalid",
    `the ${gate} gate has no command`,
    `Name one in remand.yaml: gates: { ${gate}: { commands: [${example}] } }${forge}. Or leave the gate out: --set '${without}'.`,
  );
}

const ORACLES = gatesThat(({ reviewer }) => reviewer === "oracle");

/** Throws if a gate that asks a reviewer has none. Called before an agent is paid. */
export async function assertReviewers(
  policy: Policy,
  roleRegistry: RoleRegistry,
  stories: readonly Pick<Story, "oracle">[] = [],
): Promise<void> {
  const unplayed = new Map<string, GateName>();
  for (const gate of new Set(policy.phases.flatMap((plan) => plan.gates)))
    for (const role of rolesOfGate(policy, gate))
      if (!(await isPlayed(roleRegistry, policy, roleName(role)))) unplayed.set(role, gate);
  for (const { oracle } of stories) {
    if (oracle === undefined) continue;
    const role = oracle === true ? roleOfReviewer(policy.roles, "oracle") : oracle;
    for (const gate of ORACLES) if (!(await isPlayed(roleRegistry, policy, role))) unplayed.set(role, gate);
  }
  if (unplayed.size === 0) return;
  const missing = [...unplayed].map(([role, gate]) => `${role} for the ${gate} gate`);
  const agents = [...unplayed.keys()].map((role) => `${role}: { use: command, command: … }`);
  throw new RemandError(
    "config-invalid",
    `no agent plays ${missing.join(", or ")}`,
    `Say who does, in remand.yaml: agents: { ${agents.join(", ")} }. Or leave the gate out: --set 'phases.implement=[integrity, checks]'.`,
  );
}

async function isPlayed(roleRegistry: RoleRegistry, { roles }: Policy, role: RoleName): Promise<boolean> {
  for (const each of inTurn(role, roles.fallback)) if ((await roleRegistry.agentFor(each)) !== null) return true;
  return false;
}
