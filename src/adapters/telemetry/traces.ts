import type { Context, HrTime, Span, Tracer } from "@opentelemetry/api";
import { type StoryId, storyId, type RoleName } from "../../core/events/ids.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { ownRedactor } from "../process/own-secrets.ts";
import type { Agent, AgentRequest, AgentResult, RoleAgent, RoleRegistry } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Attributes, OpenPiece, WorkPiece } from "./work-pieces.ts";
import type { OtelApi } from "./load-api.ts";
import type { TelemetryMeasures } from "./measures.ts";

export interface Traces {
  /** Work that we began. What is done for the story meanwhile belongs below it. */
  begun(story: StoryId, open: OpenPiece): void;
  /** Do we hold this piece of work, as far as we know? */
  holds(story: StoryId, piece: WorkPiece): boolean;
  ended(story: StoryId, piece: WorkPiece): void;
  /** Another worker has ended the piece and reports it. */
  givenUp(story: StoryId, piece: WorkPiece): void;
  /** A span for a call that is under way now; it is the caller's to end. */
  call(story: StoryId | null, name: string, at: number, attributes: Attributes): Span;
}

export interface TraceOptions {
  readonly api: OtelApi;
  readonly version: string;
  /** The journal's own mark; `null` while it has no line. */
  identity(): string | null;
  /** What every span says. */
  readonly always: Attributes;
}

/** One trace for each story, with the spans of every worker on it. */
export function createTraces({ api, version, identity, always }: TraceOptions): Traces {
  const tracer: Tracer = api.trace.getTracer("remand", version);
  const held = new Map<StoryId, { readonly span: Span; readonly since: number; readonly kind: OpenPiece["kind"] }>();

  const above = (story: StoryId | null): Context => {
    const mark = identity();
    if (story === null || mark === null) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      ...traceIds(mark, story),
      traceFlags: api.TraceFlags.SAMPLED,
      isRemote: true,
    });
  };
  const start = (story: StoryId | null, name: string, at: number, attributes: Attributes, parent: Context): Span => {
    const about = story === null ? always : { ...always, "remand.story": story };
    return tracer.startSpan(
      name,
      { startTime: timeOf(at), attributes: ownRedactor().texts({ ...about, ...attributes }) },
      parent,
    );
  };
  const matching = (story: StoryId, { kind, since }: WorkPiece): Span | null => {
    const found = held.get(story);
    return found !== undefined && found.kind === kind && found.since === since ? found.span : null;
  };
  return {
    begun: (story, open) => {
      const span = start(story, open.name, open.since, open.attributes, above(story));
      held.set(story, { span, since: open.since, kind: open.kind });
    },
    holds: (story, piece) => matching(story, piece) !== null,
    ended: (story, piece) => {
      const known = matching(story, piece);
      const span = known ?? start(story, piece.name, piece.since, {}, above(story));
      if (known !== null) held.delete(story);
      span.setAttributes(ownRedactor().texts(piece.attributes));
      if (piece.trouble !== null) {
        span.setAttribute("error.type", piece.trouble);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      // Clocks of two machines may disagree; a span that ends before it began is refused by some who read it.
      span.end(timeOf(Math.max(piece.since, piece.at)));
    },
    givenUp: (story, piece) => {
      // Never ended, and so never sent.
      if (matching(story, piece) !== null) held.delete(story);
    },
    call: (story, name, at, attributes) => {
      const around = story === null ? undefined : held.get(story)?.span;
      const parent = around === undefined ? above(story) : api.trace.setSpan(api.ROOT_CONTEXT, around);
      return start(story, name, at, attributes, parent);
    },
  };
}

/**
 * The same for every worker on the story, so that spans of many workers make one trace. The root span that they all
 * have as their parent is never sent.
 */
export function traceIds(identity: string, story: string): { readonly traceId: string; readonly spanId: string } {
  const hash = sha256(JSON.stringify(["remand trace", identity, story]));
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** As a pair: a plain number that is small, or older than this process, is taken by some SDKs for a time since its start. */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

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
