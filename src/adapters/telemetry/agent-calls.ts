import { storyId, type RoleName, type StoryId } from "../../core/events/ids.ts";
import type { Agent, AgentRequest, AgentResult, RoleAgent, RoleRegistry } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { ownRedactor } from "../process/own-secrets.ts";
import type { Attributes } from "./work-pieces.ts";
import type { OtelApi } from "./load-api.ts";
import type { TelemetryMeasures } from "./measures.ts";
import { timeOf, type Traces } from "./traces.ts";

export interface CallParts {
  readonly api: OtelApi;
  readonly clock: Clock;
  readonly traces: Traces;
  readonly measures: TelemetryMeasures;
}

/** The same players, but each call of their agents is told, by the conventions for generative AI. */
export function observeRoleRegistry(roleRegistry: RoleRegistry, parts: CallParts): RoleRegistry {
  return {
    agentFor: async (role, standingInFor) => {
      const player = await roleRegistry.agentFor(role, standingInFor);
      return player === null ? null : { ...player, agent: observedAgent(player, role, parts) };
    },
  };
}

function observedAgent({ agent }: RoleAgent, role: RoleName, { api, clock, traces, measures }: CallParts): Agent {
  return {
    ...agent,
    async run(request, control) {
      const asked = requestAttributes(programOf(agent.name), role, request);
      const since = clock.now();
      const span = traces.call(storyOf(request), `invoke_agent ${role}`, since, asked);
      const tell = (more: Attributes, trouble: string | null): void => {
        const at = clock.now();
        const about = trouble === null ? asked : { ...asked, "error.type": trouble };
        span.setAttributes(ownRedactor().texts(more));
        if (trouble !== null) {
          span.setAttribute("error.type", trouble);
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end(timeOf(Math.max(since, at)));
        measures.called(Math.max(0, at - since) / 1000, about);
      };
      try {
        // What the agent itself does in this process (a model's HTTP calls) belongs below this span.
        const result = await api.context.with(api.trace.setSpan(api.context.active(), span), () =>
          agent.run(request, control),
        );
        tell(resultAttributes(result), troubleIn(result));
        measures.tokens(result.usage?.inputTokens, result.usage?.outputTokens, asked);
        return result;
      } catch (error) {
        tell({}, "thrown");
        throw error;
      }
    },
  };
}

/** The key of a dispatch is the story and a number; the project's own is no story. */
function storyOf({ key }: AgentRequest): StoryId | null {
  const story = key.slice(0, key.lastIndexOf(":"));
  return story === "" || story.startsWith("@") ? null : storyId(story);
}

function requestAttributes(agent: string, role: RoleName, { model, session }: AgentRequest): Attributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": providerOf(agent, model),
    "gen_ai.agent.name": role,
    "remand.client": agent,
    "remand.goes_on": session !== null,
    ...(model === null ? {} : { "gen_ai.request.model": model }),
  };
}

function resultAttributes({ session, tokens, costUsd, usage, status }: AgentResult): Attributes {
  const { model, inputTokens, outputTokens } = usage ?? {};
  return {
    "remand.status": status,
    ...safeAttribute("gen_ai.conversation.id", session?.id),
    ...safeAttribute("gen_ai.response.model", model),
    ...(inputTokens === undefined ? {} : { "gen_ai.usage.input_tokens": inputTokens }),
    ...(outputTokens === undefined ? {} : { "gen_ai.usage.output_tokens": outputTokens }),
    ...(tokens === null ? {} : { "remand.tokens": tokens }),
    ...(costUsd === null ? {} : { "remand.cost_usd": costUsd }),
  };
}

/** A client's word is taken for a name only where it looks like one. */
function safeAttribute(attribute: string, word: string | undefined): Attributes {
  return word !== undefined && /^[\w.:@/[\]-]{1,128}$/.test(word) ? { [attribute]: word } : {};
}

function troubleIn({ status, error }: AgentResult): string | null {
  if (error !== null) return error.kind;
  return status === "completed" ? null : status;
}

/** A custom command is named by its program, without the path: paths on a user's disk are private. */
const programOf = (agent: string): string => agent.split(/[/\\]/).at(-1)!;

/** By the conventions' names where they have one; a custom command is its own provider. */
function providerOf(agent: string, model: string | null): string {
  const known = PROVIDERS[agent];
  if (known !== undefined) return known;
  const [named = ""] = agent === "model" && model !== null ? model.split("/") : [agent];
  return MODEL_PROVIDERS[named] ?? named;
}

const PROVIDERS: Readonly<Record<string, string>> = { claude: "anthropic", codex: "openai" };
const MODEL_PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  xai: "x_ai",
};
