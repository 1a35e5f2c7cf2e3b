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
  /** Starts the span of work that this process began. Later calls for the story are its children. */
  begun(story: StoryId, open: OpenPiece): void;
  /** Whether this process has the open span of this piece of work. */
  holds(story: StoryId, piece: WorkPiece): boolean;
  ended(story: StoryId, piece: WorkPiece): void;
  /** Drops the span: another worker has ended the piece and reports it. */
  givenUp(story: StoryId, piece: WorkPiece): void;
  /** Starts a span for a call; the caller ends it. */
  call(story: StoryId | null, name: string, at: number, attributes: Attributes): Span;
}

export interface TraceOptions {
  readonly api: OtelApi;
  readonly version: string;
  /** Returns the journal's identity; `null` while it has no line. */
  identity(): string | null;
  /** Attributes of every span. */
  readonly always: Attributes;
}

/** Creates one trace per story, with the spans of all workers. */
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
      // The clocks of two machines may differ, and some backends reject a span that ends before it began.
      span.end(timeOf(Math.max(piece.since, piece.at)));
    },
    givenUp: (story, piece) => {
      // Not ended, and therefore never sent.
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
 * Returns ids that are the same for every worker, so that spans of many workers make one trace. The root span, their
 * common parent, is never sent.
 */
export function traceIds(identity: string, story: string): { readonly traceId: string; readonly spanId: string } {
  const hash = sha256(JSON.stringify(["remand trace", identity, story]));
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/**
 * Returns the time as a pair: some SDKs take a plain number that is small, or older than this process, for a time since
 * its start.
 */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

export interface CallParts {
  readonly api: OtelApi;
  readonly clock: Clock;
  readonly traces: Traces;
  readonly measures: TelemetryMeasures;
}

/** Wraps a role registry so that each call of an agent is reported by the conventions for generative AI. */
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
        // Make spans of calls that the agent makes in this process (a model's HTTP calls) children of this span.
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

/** Returns the story of a dispatch's key, which is the story and a number; `null` for the project's own. */
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

/** Returns an attribute only if the client's value looks like a name. */
function safeAttribute(attribute: string, word: string | undefined): Attributes {
  return word !== undefined && /^[\w.:@/[\]-]{1,128}$/.test(word) ? { [attribute]: word } : {};
}

function troubleIn({ status, error }: AgentResult): string | null {
  if (error !== null) return error.kind;
  return status === "completed" ? null : status;
}

/** Returns a custom command's program without its path: paths on a user's disk are private. */
const programOf = (agent: string): string => agent.split(/[/\\]/).at(-1)!;

/** Returns the provider, by the conventions' name if they have one; a custom command is its own provider. */
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
