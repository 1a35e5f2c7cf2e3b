import type { AgentSession } from "../../core/events/ids.ts";
import type { AgentResult } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/assert.ts";

/** What a client says of its tokens beyond the sum. */
export interface TokenParts {
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  /** Of the input, what was read from a cache. */
  readonly cached?: number;
}

type Totals = NonNullable<AgentSession["totals"]>;

/**
 * For those who measure. A client may say the parts of the run, or those of the whole conversation; parts that add up
 * to neither are parts of something else, and are left out.
 */
export function usageOfParts(
  parts: TokenParts | null,
  tokens: number | null,
  before?: AgentSession["totals"],
): Pick<AgentResult, "usage"> {
  if (parts === null) return {};
  const named = parts.model === null ? {} : { model: parts.model };
  const own = tokens === null ? null : partsOfRun(parts, tokens, before);
  const counted =
    own === null
      ? {}
      : {
          inputTokens: own.input,
          outputTokens: own.output,
          ...(own.cached === undefined ? {} : { cachedTokens: own.cached }),
        };
  const usage = { ...named, ...counted };
  return Object.keys(usage).length === 0 ? {} : { usage };
}

function partsOfRun(parts: TokenParts, tokens: number, before: AgentSession["totals"]): TokenParts | null {
  const { input, output, cached = 0 } = parts;
  if (input + output === tokens) return parts;
  if (before?.input === undefined || input + output !== before.tokens + tokens) return null;
  const own = { input: input - before.input, cached: cached - (before.cached ?? 0) };
  return own.input < 0 || own.input > tokens || own.cached < 0
    ? null
    : { ...parts, ...own, output: tokens - own.input };
}

/** What a conversation has used, with its parts where these are the conversation's: the next run is told apart by them. */
export function totalsWithParts(totals: AgentSession["totals"], parts: TokenParts | null): AgentSession["totals"] {
  if (totals === undefined || parts === null || parts.input + parts.output !== totals.tokens) return totals;
  const withInput: Totals = { ...totals, input: parts.input };
  return parts.cached === undefined ? withInput : { ...withInput, cached: parts.cached };
}

/** Of several models that were used, by their names; the one that did most stands for all. */
export function partsByModel(
  byModel: unknown,
  inputFields: readonly string[],
  outputField: string,
  cachedField?: string,
): TokenParts | null {
  if (!isRecord(byModel)) return null;
  const each = Object.entries(byModel).map(([model, used]) => ({
    ...partsIn(used, inputFields, outputField, cachedField),
    model,
  }));
  const [most] = each.toSorted((a, b) => b.input + b.output - (a.input + a.output));
  return most === undefined ? null : each.map((parts) => ({ ...parts, model: most.model })).reduce(partsTogether);
}

export function partsIn(
  used: unknown,
  inputFields: readonly string[],
  outputField: string,
  cachedField?: string,
): TokenParts {
  const amount = (name: string): number => {
    const value = isRecord(used) ? used[name] : null;
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : 0;
  };
  return {
    model: null,
    input: inputFields.reduce((sum, name) => sum + amount(name), 0),
    output: amount(outputField),
    ...(cachedField === undefined ? {} : { cached: amount(cachedField) }),
  };
}

export function partsTogether<P extends TokenParts>(first: P, second: P): P {
  const cached = first.cached === undefined || second.cached === undefined ? undefined : first.cached + second.cached;
  const sum = { ...second, input: first.input + second.input, output: first.output + second.output };
  return cached === undefined ? sum : { ...sum, cached };
}
