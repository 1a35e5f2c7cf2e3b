import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { rolesOfGate } from "../../app/agent-spec.ts";
import type { Config } from "../../config/config.ts";
import { RemandError } from "../../core/events/error.ts";
import type { GateName } from "../../core/gates/gate.ts";
import { roleName, type RoleName } from "../../core/events/ids.ts";
import type { Policy } from "../../core/events/policy.ts";
import { judge } from "../../decide/verdict.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import type { RoleRegistry } from "../../ports/roles.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { inTurn } from "../../gates/review/ask-reviewer.ts";
import { createAuditGate } from "../../gates/audit/audit-gate.ts";
import type { CheckCommand } from "../../gates/checks/run-check.ts";
import { createReviewGate } from "../../gates/review/review-gate.ts";

/** What gates need that ask people's agents. */
export interface ReviewerParts {
  readonly roleRegistry: RoleRegistry;
  /** The project's rules for reviewers, by gate. */
  readonly practices: readonly string[];
  nonce(): string;
  /** What a phase made, where that is not the diff. */
  productOf?(request: GateRequest): Promise<string>;
}

interface ReviewerContext extends ReviewerParts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  /** Where each reviewer gets its own clean checkout. */
  readonly checkouts: ExperimentRunner | undefined;
  readonly checks: Gate;
  readonly commands: readonly CheckCommand[];
}

/** The gates that ask a reviewer. They get the rule by which a verdict is formed: see ADR 9. */
export function reviewerGates(config: Config, parts: ReviewerContext): readonly (readonly [GateName, Gate])[] {
  const { checks, commands, ...rest } = parts;
  const named = Object.keys(config.environments);
  const everywhere = named.length === 0 ? ["local"] : named;
  return [
    ["review", createReviewGate({ ...rest, judge, judgedBy: reviewersNamed(config) })],
    [
      "audit",
      createAuditGate({
        ...rest,
        judge,
        judgedBy: [`an audit of each acceptance criterion by ${config.roles.auditor}`],
        commands: commands.flatMap(({ run, environments = [] }) =>
          (environments.length === 0 ? everywhere : environments).map((environment) => ({ command: run, environment })),
        ),
        verify: commands.length === 0 ? null : checks.run,
      }),
    ],
  ];
}

/** Within the TDD cycle a reviewer looks at the types, where the config has a stage of that name. */
export function domainGate(config: Config, parts: Omit<ReviewerContext, "checks" | "commands">): Gate | null {
  if (!config.gates.tdd.stages.includes(DOMAIN_STAGE)) return null;
  const role = config.roles.stage[DOMAIN_STAGE] ?? config.roles.critic;
  return createReviewGate({ ...parts, judge, judgedBy: [`a review of the types by ${role}`] });
}

const DOMAIN_STAGE = "domain";

function reviewersNamed({ gates, roles }: Config): readonly string[] {
  const { stages, perspectives } = gates.review;
  const parts = perspectives.length > 0 ? perspectives : stages;
  if (parts.length === 0) return [`a review by ${roles.critic}`];
  return parts.map((part) => `a review of ${part} by ${roles.stage[part] ?? roles.critic}`);
}

/** The project's own rules for reviewers, as text. A file that is named and not there is an error, and no silence. */
export async function practicesOf(root: string, { gates }: Config): Promise<readonly string[]> {
  return Promise.all(
    gates.review.practices.map(async (practice) => {
      if (typeof practice === "string") return practice;
      try {
        return await readFile(resolve(root, practice.file), "utf8");
      } catch (error) {
        throw new RemandError(
          "file-missing",
          `the practices in ${practice.file} cannot be read: ${(error as Error).message}`,
          "Fix `gates.review.practices` in remand.yaml.",
          { cause: error },
        );
      }
    }),
  );
}

/** Every gate that asks a reviewer must have one; this is checked before the work is paid for. */
export async function insistOnReviewers(policy: Policy, roleRegistry: RoleRegistry): Promise<void> {
  const unplayed = new Map<string, GateName>();
  for (const gate of new Set(policy.phases.flatMap((plan) => plan.gates)))
    for (const role of rolesOfGate(policy, gate))
      if (!(await isPlayed(roleRegistry, policy, roleName(role)))) unplayed.set(role, gate);
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
