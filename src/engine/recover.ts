import { entries } from "../stdx/sorted-map.ts";
import type { Ledger } from "./ledger.ts";

/**
 * The engine was gone. Whatever it had started and not reported is interrupted: nobody saw it end. The journal
 * says so, what was counted for it is given back, and the step is decided anew. Whoever owns the journal calls
 * this once, before anything else.
 */
export async function recover(ledger: Ledger): Promise<number> {
  let interrupted = 0;
  for (const [id, state] of entries(ledger.state().stories)) {
    if (state.running === null || state.ending !== null) continue;
    const what = state.running.type === "attempt" ? `attempt ${state.running.attempt}` : state.running.type === "gate" ? `the ${state.running.gate} gate` : state.running.step;
    if (await ledger.append(id, [{ type: "work.interrupted", detail: `the engine stopped during ${what}` }])) interrupted++;
  }
  return interrupted;
}
