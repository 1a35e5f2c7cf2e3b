import { RemandError } from "../domain/error.ts";
import type { GateName } from "../domain/gate.ts";
import type { Policy } from "../domain/policy.ts";

/**
 * The policy as far as it can be carried out here. What cannot be done at all is refused before anything starts,
 * with the setting that helps.
 */
export function ablePolicy(
  policy: Policy,
  gates: ReadonlySet<GateName>,
  { canDeliver }: { readonly canDeliver: boolean },
): Policy {
  const missing = [...new Set(policy.phases.flatMap((plan) => plan.gates))].filter((gate) => !gates.has(gate));
  if (missing.length > 0)
    throw new RemandError(
      "config-invalid",
      `nothing here can judge ${missing.map((gate) => `the ${gate} gate`).join(" or ")} yet`,
      `Leave it out for now: remand run --set 'phases.implement=[integrity, checks]', or the same in remand.yaml.`,
    );
  if (policy.deliver !== "branch" && !canDeliver)
    throw new RemandError(
      "config-invalid",
      `work in a checkout of your own cannot be delivered by ${policy.deliver}`,
      "Set `deliver: branch`.",
    );
  return policy;
}
