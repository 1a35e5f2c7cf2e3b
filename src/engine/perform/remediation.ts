import type { Event } from "../../core/events/event.ts";
import type { RoleName } from "../../core/events/ids.ts";
import type { AgentResult } from "../../ports/agent.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { writeHealthCheckPrompt, writeRemediationPrompt } from "../../write/prompts/remediation.ts";
import { listedItems } from "../../parse/agent/section-headings.ts";
import { appendToRemediation } from "../ledger.ts";
import { mostUsed } from "../spending-watch.ts";
import type { BriefEvidence } from "../../core/stories/brief.ts";
import { GATES } from "../../core/gates/gate.ts";
import type { VerificationCommand } from "../../core/stories/prompt.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { entries } from "../../stdx/sorted-map.ts";
import type { EngineWorld } from "../world.ts";
import type { ContextOf } from "./command-context.ts";

/**
 * Dispatches an agent to repair the infrastructure. Without an agent for the role, the try still counts, so that a
 * person is asked.
 */
export async function startRemediation(performing: ContextOf<"start-remediation">): Promise<void> {
  const { command, ledger } = performing;
  const { remediation, policy } = ledger.state();
  if (remediation === null || policy === null) return;
  if (!(await ledger.append(null, [{ type: "remediation.started", attempt: command.attempt }]))) return;
  const { issue, guidance, attempt } = command;
  const request = {
    rolePrompt: "",
    issue,
    evidence: infrastructureReport(ledger.state()),
    commands: commandsThatMustWork(performing.world, ledger.state()),
    guidance,
    history: remediation.history,
    attempt,
    attempts: policy.limits.remediations,
  };
  const result = await askAgent(performing, policy.roles.remediation, attempt - 1, (rolePrompt, nonce) =>
    writeRemediationPrompt({ ...request, rolePrompt }, { nonce }),
  );
  if (performing.signal.aborted && performing.spending.exceeded() === null) return;
  const fixes = result === null ? [] : listedOr(result.text, /^Fixes Applied:$/i);
  await appendToRemediation(ledger, attempt, [{ type: "remediation.finished", attempt, fixes, ...costOf(result) }]);
}

/** Asks another role whether the repair worked. Every reply but a plain HEALTHY means unhealthy. */
export async function checkHealth(performing: ContextOf<"check-health">): Promise<void> {
  const { ledger, signal, spending } = performing;
  const { remediation, policy } = ledger.state();
  if (remediation === null || policy === null) return;
  const fixes = remediation.history.at(-1)?.fixes ?? [];
  const result = await askAgent(performing, policy.roles.healthCheck, remediation.tries - 1, (rolePrompt, nonce) =>
    writeHealthCheckPrompt(
      {
        rolePrompt,
        issue: remediation.issue,
        fixes,
        commands: commandsThatMustWork(performing.world, ledger.state()),
      },
      { nonce },
    ),
  );
  if (signal.aborted && spending.exceeded() === null) return;
  const healthy = result?.status === "completed" && /^HEALTH_AUDIT: HEALTHY\s*$/m.test(plainText(result.text));
  const remaining = healthy
    ? []
    : result === null
      ? [`no agent for ${policy.roles.healthCheck}`]
      : listedOr(result.text, /^(?:Remaining )?Failures:$/i);
  await appendToRemediation(ledger, remediation.tries, [
    { type: "health.checked", healthy, remaining, ...costOf(result) },
  ]);
}

async function askAgent(
  { command, world, signal, ledger, spending }: ContextOf<"start-remediation" | "check-health">,
  role: RoleName,
  turn: number,
  write: (rolePrompt: string, nonce: string) => string,
): Promise<AgentResult | null> {
  const player = await world.roleRegistry.agentFor(role);
  if (player === null) return null;
  const timeoutMs = ledger.state().policy?.limits.timeoutMs.remediation ?? 0;
  const prompt = write(player.prompt, world.nonce());
  const meter = spending.meter();
  const beganAt = world.clock.now();
  const result = await player.agent.run(
    {
      prompt,
      cwd: world.root,
      access: command.type === "check-health" ? "read" : "full",
      session: null,
      outputSchema: null,
      model: player.model,
      timeoutMs,
      env: player.env,
      key: command.key,
      turn: turn,
      ...(meter.maxCostUsd === null ? {} : { maxCostUsd: meter.maxCostUsd }),
    },
    {
      signal,
      onEvent(event) {
        if (event.type === "output") world.watcher.onOutput(command, event.line);
        if (event.type === "usage") meter.onUse(event);
      },
    },
  );
  if (spending.exceeded() === null) return result;
  const durationMs = Math.max(result.durationMs, world.clock.now() - beganAt);
  return { ...result, ...mostUsed(result, spending.used()), durationMs };
}

function costOf(
  result: AgentResult | null,
): Pick<Extract<Event, { type: "health.checked" }>, "durationMs" | "costUsd" | "tokens"> {
  if (result === null) return { durationMs: 0 };
  return {
    durationMs: result.durationMs,
    ...(result.costUsd === null ? {} : { costUsd: result.costUsd }),
    ...(result.tokens === null ? {} : { tokens: result.tokens }),
  };
}

/** Returns the list under the heading; without one, the end of the message. */
function listedOr(text: string, heading: RegExp): string[] {
  const items = listedItems(text, heading);
  return items.length > 0 ? items : [lastWords(text)];
}

function lastWords(text: string): string {
  return plainText(text).trim().slice(-300);
}

/** Collects the reports of all stories about the broken infrastructure, for the agent that repairs it. */
function infrastructureReport({ stories }: RunState): readonly BriefEvidence[] {
  const troubles: BriefEvidence[] = [];
  for (const [id, { gates, attempts, ending }] of entries(stories)) {
    if (ending !== null) continue;
    for (const gate of GATES) {
      const trouble = gates[gate]?.trouble ?? null;
      if (trouble !== null) troubles.push({ title: `what kept the ${gate} gate of ${id} from judging`, text: trouble });
    }
    // Only the message of an agent that could not work: other messages are about the work.
    const last = attempts.at(-1);
    if ((last?.outcome === "blocked" || last?.outcome === "incomplete") && last.summary !== "")
      troubles.push({ title: `what the agent of ${id} said`, text: last.summary });
    if (troubles.length >= MOST) break;
  }
  return troubles.slice(0, MOST);
}

const MOST = 10;

/** Returns the checks of the work with the environment that each ran in; before the first run, as configured. */
function commandsThatMustWork(
  world: Pick<EngineWorld, "gates">,
  { stories }: RunState,
): readonly VerificationCommand[] {
  const commands = new Map<string, VerificationCommand>();
  for (const [, { gates, ending }] of entries(stories)) {
    if (ending !== null) continue;
    for (const { command, environment } of gates.checks?.last?.runs ?? [])
      commands.set(`${environment}\n${command}`, { command, environment });
  }
  if (commands.size > 0) return [...commands.values()];
  return (world.gates.get("checks")?.criteria() ?? []).map((command) => ({ command, environment: "where it runs" }));
}
