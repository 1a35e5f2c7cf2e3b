/** What a model costs, in US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Input that is read from a cache; without it, as much as any other. */
  readonly cached?: number;
}

export type Prices = Readonly<Record<string, Price>>;

export interface PricedTokens {
  readonly input: number;
  readonly output: number;
  /** Of the input. */
  readonly cached: number;
}

/**
 * The price of a model by its name: as it is written, else without the provider in front of it and the day behind it.
 * Nothing else is tried. A price of a model that only has a similar name would be a guess.
 */
export function priceOf(prices: Prices, model: string): Price | null {
  const bare = model.replace(/^[\w.-]+\//, "");
  const names = [model, bare, bare.replace(/-\d{4}-?\d{2}-?\d{2}$/, "")];
  const name = names.find((each) => Object.hasOwn(prices, each));
  return name === undefined ? null : prices[name]!;
}

export function costAt({ input, output, cached = input }: Price, tokens: PricedTokens): number {
  const fresh = Math.max(0, tokens.input - tokens.cached);
  const dollars = (fresh * input + tokens.cached * cached + tokens.output * output) / 1_000_000;
  // Sums of fractions leave dust behind the tenth digit.
  return Math.round(dollars * 1e10) / 1e10;
}
