import type { BenchResult } from "./bench-result.ts";
import { attemptFigures } from "./verify/attempts.ts";
import { checkoutFigures } from "./verify/checkouts.ts";
import { warmCheckFigures } from "./verify/warm-checks.ts";

/** What it costs to verify work in a clean checkout and with the base's tests. */
export const run = async (): Promise<readonly BenchResult[]> => [
  ...(await checkoutFigures()),
  ...(await warmCheckFigures()),
  ...(await attemptFigures()),
];
