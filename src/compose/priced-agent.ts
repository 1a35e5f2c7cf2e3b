import { costAt, priceOf, type Prices } from "../domain/price.ts";
import type { Agent, AgentControl, AgentEvent, AgentRequest, AgentResult } from "../ports/agent.ts";

/**
 * An agent that says its tokens and not their cost is priced by the table. Where the table has no price, or the parts of
 * the tokens are not known, the cost stays unknown, and that is said: a wrong sum would hold a budget open or shut.
 */
export function pricedAgent(agent: Agent, prices: Prices): Agent {
  return {
    ...agent,
    async run(request, control) {
      const onEvent = (event: AgentEvent): void => control.onEvent(pricedEvent(event, request, prices));
      return priced(await agent.run(request, { ...control, onEvent }), request, prices, control);
    },
  };
}

/** What an agent has cost so far. Without a price for each model that it used, that stays unknown. */
function pricedEvent(event: AgentEvent, { model: wanted }: AgentRequest, prices: Prices): AgentEvent {
  if (event.type !== "usage" || event.costUsd !== null || event.parts === undefined) return event;
  let costUsd = 0;
  for (const {
    model = wanted,
    inputTokens: input = 0,
    outputTokens: output = 0,
    cachedTokens: cached = 0,
  } of event.parts) {
    const price = model === null ? null : priceOf(prices, model);
    if (price === null) return event;
    costUsd += costAt(price, { input, output, cached });
  }
  return { ...event, costUsd };
}

function priced(result: AgentResult, request: AgentRequest, prices: Prices, control: AgentControl): AgentResult {
  const { costUsd, tokens, usage } = result;
  if (costUsd !== null || tokens === null || tokens === 0) return result;
  const unknown = (why: string): AgentResult => {
    control.onEvent({ type: "output", line: `cost unknown: ${why}` });
    return result;
  };
  const model = usage?.model ?? request.model;
  if (model === null) return unknown("the agent did not say which model it used; name one: agents.<role>.model");
  const price = priceOf(prices, model);
  if (price === null) return unknown(`there is no price for ${model}; give one under prices in remand.yaml`);
  const { inputTokens: input, outputTokens: output, cachedTokens: cached = 0 } = usage ?? {};
  if (input === undefined || output === undefined || input + output !== tokens)
    return unknown("the agent did not say how many of its tokens were input");
  const dollars = costAt(price, { input, output, cached });
  control.onEvent({ type: "output", line: `cost $${dollars.toFixed(4)} by the price of ${model}` });
  return { ...result, costUsd: dollars };
}
