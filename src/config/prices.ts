import type { Prices } from "../domain/price.ts";

const OPUS = { input: 5, cached: 0.5, output: 25 };
const SONNET_4 = { input: 3, cached: 0.3, output: 15 };

/**
 * What providers publish, in US dollars for a million tokens, as it was in November 2026. It is used where a client
 * says its tokens and not its cost. Prices that depend on the length of the prompt, or that are told in two ways,
 * are left out, and so is a cache's where that is in doubt: then it counts as other input does.
 */
export const PRICES: Prices = {
  "claude-fable-5-1": { input: 10, cached: 0.25, output: 50 },
  "claude-fable-5": { input: 10, cached: 1, output: 50 },
  "claude-opus-5-5": { input: 4, output: 20 },
  "claude-opus-5": OPUS,
  "claude-opus-4-8": OPUS,
  "claude-opus-4-7": OPUS,
  "claude-opus-4-6": OPUS,
  "claude-opus-4-5": OPUS,
  "claude-sonnet-5-5": { input: 2, output: 10 },
  "claude-sonnet-4-6": SONNET_4,
  "claude-sonnet-4-5": SONNET_4,
  "claude-haiku-4-5": { input: 1, cached: 0.1, output: 5 },
  "gpt-5.5": { input: 5, cached: 0.5, output: 30 },
  "gpt-5.4": { input: 2.5, cached: 0.25, output: 15 },
  "gpt-5.4-mini": { input: 0.75, cached: 0.075, output: 4.5 },
  "gpt-5.4-nano": { input: 0.2, cached: 0.02, output: 1.25 },
};
