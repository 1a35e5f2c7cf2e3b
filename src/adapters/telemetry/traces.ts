import type { Context, HrTime, Span, Tracer } from "@opentelemetry/api";
import type { StoryId } from "../../core/events/ids.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { ownRedactor } from "../process/own-secrets.ts";
import type { Attributes, OpenPiece, WorkPiece } from "./work-pieces.ts";
import type { OtelApi } from "./load-api.ts";

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
export const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
