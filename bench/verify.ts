import type { BenchResult } from "./bench-result.ts";
import { attemptFigures } from "./verify/attempts.ts";
import { checkoutFigures } from "./verify/checkouts.ts";
import { warmCheckFigures } from "./verify/warm-checks.ts";

/**
 * The cost of verifying work in a clean checkout and with the base's tests. `--only checkouts,warm,attempts` selects
 * parts, `--row <words>` the attempts whose name contains these words.
 */
export async function run(options: ReadonlyMap<string, string>): Promise<readonly BenchResult[]> {
  const only = options.get("only")?.split(",") ?? ["checkouts", "warm", "attempts"];
  return [
    ...(only.includes("checkouts") ? await checkoutFigures() : []),
    ...(only.includes("warm") ? await warmCheckFigures() : []),
    ...(only.includes("attempts") ? await attemptFigures(options.get("row") ?? "") : []),
  ];
}
