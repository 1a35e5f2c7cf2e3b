import type { AgentResult } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";

/** What a client says of its tokens beyond the sum. */
export interface TokenParts {
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
}

/** For those who measure. Parts that do not add up to what was counted are parts of something else, and are left out. */
export function usageOfParts(parts: TokenParts | null, tokens: number | null): Pick<AgentResult, "usage"> {
  if (parts === null) return {};
  const { model, input, output } = parts;
  const named = model === null ? {} : { model };
  const counted = input + output === tokens ? { inputTokens: input, outputTokens: output } : {};
  const usage = { ...named, ...counted };
  return Object.keys(usage).length === 0 ? {} : { usage };
}

/** Of several models that were used, by their names; the one that did most stands for all. */
export function partsByModel(byModel: unknown, inputFields: readonly string[], outputField: string): TokenParts | null {
  if (!isRecord(byModel)) return null;
  const each = Object.entries(byModel).map(([model, used]) => ({ ...partsIn(used, inputFields, outputField), model }));
  const [most] = each.toSorted((a, b) => b.input + b.output - (a.input + a.output));
  return most === undefined ? null : each.map((parts) => ({ ...parts, model: most.model })).reduce(partsTogether);
}

export function partsIn(used: unknown, inputFields: readonly string[], outputField: string): TokenParts {
  const amount = (name: string): number => {
    const value = isRecord(used) ? used[name] : null;
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : 0;
  };
  return { model: null, input: inputFields.reduce((sum, name) => sum + amount(name), 0), output: amount(outputField) };
}

export function partsTogether<P extends TokenParts>(first: P, second: P): P {
  return { ...second, input: first.input + second.input, output: first.output + second.output };
}
