import type { Judgement } from "../../domain/gate.ts";
import { pinningOf, type PinnedRules } from "../../domain/pinned-files.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Bench } from "../../ports/laboratory.ts";
import { spliceInlineTests } from "../../readers/inline-tests.ts";

/** Files with tests, or that say how tests are run, which a run in this checkout changed. */
export async function writtenTests(
  { written, text }: Bench,
  rules: Omit<PinnedRules, "named">,
): Promise<readonly string[]> {
  const holdsTests = (path: string): boolean => {
    const pinning = pinningOf(path, { ...rules, named: new Set() });
    if (pinning !== "spliced") return pinning === "whole";
    const now = text(path) ?? "";
    return spliceInlineTests(path, now, now) !== null;
  };
  return ((await written?.()) ?? []).filter(holdsTests);
}

/** A pass says nothing where the run changed the tests under it. What the checks write at the base is theirs to write. */
export function unlessWritten(judgement: Judgement, { baseRun }: GateRequest, written: readonly string[]): Judgement {
  const own = new Set(baseRun?.written);
  const changed = written.filter((path) => !own.has(path));
  if (changed.length === 0) return judgement;
  const { notes: _notes, contested: _contested, identities, ...rest } = judgement;
  const files = changed.slice(0, MOST_NAMED).join(", ");
  const summary = `${judgement.gate}: inconclusive (test files were changed while the checks ran: ${files})`;
  // What passed there is not known to pass.
  const known = identities === undefined ? {} : { identities: { ...identities, passing: [] } };
  return { ...rest, ...known, result: "inconclusive", summary };
}

const MOST_NAMED = 8;
