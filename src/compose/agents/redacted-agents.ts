import type { Agent, AgentEvent, AgentResult, RoleAgent, RoleRegistry } from "../../ports/agent.ts";
import { createLineRedactor, ownRedactor } from "../../adapters/process/own-secrets.ts";

/**
 * Takes secrets out of what agents say before it is read: a message that is cut or parsed first could leave half of
 * one, which no redactor recognizes.
 */
export function redactedRoles({ agentFor }: RoleRegistry): RoleRegistry {
  return {
    agentFor: async (role, standingInFor) => {
      const found = await agentFor(role, standingInFor);
      return found === null ? null : redactedRole(found);
    },
  };
}

export const redactedRole = (role: RoleAgent): RoleAgent => ({ ...role, agent: redactedAgent(role.agent) });

function redactedAgent(agent: Agent): Agent {
  return {
    ...agent,
    run: async (request, control) => {
      const redactLine = createLineRedactor();
      const onEvent = (event: AgentEvent): void =>
        control.onEvent(event.type === "output" ? { ...event, line: redactLine(event.line) } : event);
      return redactedResult(await agent.run(request, { ...control, onEvent }));
    },
  };
}

function redactedResult(result: AgentResult): AgentResult {
  const { texts, text } = ownRedactor();
  return {
    ...result,
    text: text(result.text),
    output: texts(result.output),
    denied: texts(result.denied),
    error: texts(result.error),
    ...(result.usage === undefined ? {} : { usage: texts(result.usage) }),
  };
}
