import { RemandError } from "../core/events/error.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";

/**
 * The policy as far as it can be carried out here. What cannot be done at all is refused before anything starts,
 * with the setting that helps.
 */
export function ablePolicy(
  policy: Policy,
  gates: ReadonlySet<GateName>,
  { canDeliver, hasChecks }: { readonly canDeliver: boolean; readonly hasChecks: boolean },
): Policy {
  const planned = new Set(policy.phases.flatMap((plan) => plan.gates));
  const missing = [...planned].filter((gate) => !gates.has(gate));
  if (missing.length > 0)
    throw new RemandError(
      "config-invalid",
      `nothing here can run ${missing.map((gate) => `the ${gate} gate`).join(" or ")} yet`,
      `Leave it out for now: remand run --set 'phases.implement=[integrity, checks]', or the same in remand.yaml.`,
    );
  // An agent would work, and be paid, for a gate that then has nothing to judge by.
  if (planned.has("checks") && !hasChecks)
    throw new RemandError(
      "config-invalid",
      "the checks gate has no command",
      "Name one in remand.yaml: gates: { checks: { commands: [make check] } }. Or leave the gate out: --set 'phases.implement=[integrity]'.",
    );
  if (policy.deliver !== "branch" && !canDeliver)
    throw new RemandError(
      "config-invalid",
      `work in a checkout of your own cannot be delivered by ${policy.deliver}`,
      "Set `deliver: branch`.",
    );
  return policy;
}
