import { RemandError } from "../core/events/error.ts";
import type { PinnedRules } from "../core/gates/base-tests.ts";
import { unlessWritten, writtenTests } from "./pinned/selected-tests.ts";
import type { Baseline, Gate, GateControl, GateRequest } from "../ports/gate.ts";
import type { ExperimentRunner } from "../ports/experiment-runner.ts";

/**
 * Runs a gate in a new clean checkout. Anything that an agent left in its folder besides the commit (ignored files,
 * installed packages, git settings) does not exist there. A request that already has a clean checkout keeps it.
 */
export function inCleanCheckout(
  gate: Gate,
  checkouts: ExperimentRunner | null,
  rules: Omit<PinnedRules, "named"> | null = null,
): Gate {
  if (checkouts === null) return gate;
  const within = async <T>(
    request: GateRequest,
    signal: AbortSignal,
    work: (clean: GateRequest, written: () => Promise<readonly string[]>) => Promise<T>,
  ): Promise<T> => {
    const { commit, base, tree, path } = request;
    if (isAsItIs(request)) return work(request, () => Promise.resolve([]));
    const checkout = await checkouts.open({ signal, commit: commit === "" ? base : commit, tree, base });
    const readWrittenTests = async (): Promise<readonly string[]> =>
      rules === null ? [] : writtenTests(checkout, rules);
    try {
      return await work({ ...request, path: checkout.path, workedIn: path }, readWrittenTests);
    } finally {
      await checkout.close();
    }
  };
  const { baseline } = gate;
  return {
    ...gate,
    run: (request, control) =>
      within(request, control.signal, async (clean, written) => {
        const judgement = await gate.run(clean, control);
        return judgement.result === "pass" ? unlessWritten(judgement, request, await written()) : judgement;
      }),
    ...(baseline === undefined
      ? {}
      : {
          hasOwnBase: true,
          async baseline(request, control) {
            const seen = await within(request, control.signal, async (clean, written) =>
              withWritten(await baseline(clean, control), await written()),
            );
            await assertSameBase(seen, { gate, checkouts, request, control });
            return seen;
          },
        }),
  };
}

const withWritten = (seen: Baseline, written: readonly string[]): Baseline =>
  seen.run === undefined || written.length === 0 ? seen : { ...seen, run: { ...seen.run, written } };

/**
 * Whether the request's folder is used directly: it is already a clean checkout, or there is no tree and the folder's
 * files are judged.
 */
const isAsItIs = ({ workedIn, tree }: GateRequest): boolean => workedIn !== undefined || tree === "";

/**
 * Throws if a test passes in the user's folder before any work but fails in a clean checkout: it needs a file that git
 * ignores. An agent that looked for the cause would cost money in vain.
 */
async function assertSameBase(
  { failing }: Baseline,
  about: {
    readonly gate: Gate;
    readonly checkouts: ExperimentRunner;
    readonly request: GateRequest;
    readonly control: GateControl;
  },
): Promise<void> {
  const { gate, checkouts, request, control } = about;
  if (failing.length === 0 || isAsItIs(request) || control.signal.aborted) return;
  // The folder has an agent's changes by now, so it says nothing about the base.
  if (control.isWorkUnderWay?.() === true) return;
  const leftOut = (await checkouts.ignoredPaths?.(request.path)) ?? [];
  if (leftOut.length === 0) return;
  const there = await gate.baseline!(request, control);
  const only = failing.filter((name) => !there.failing.includes(name) && !there.flaky.includes(name));
  if (only.length === 0 || control.signal.aborted) return;
  // A different failure there: what passes there is unknown.
  if (there.failing.some((name) => !failing.includes(name))) return;
  const more = only.length === 1 ? "" : ` and ${only.length - 1} more`;
  throw new RemandError(
    "workspace-broken",
    `${only[0]}${more} passes in ${request.path} and fails in a clean checkout, where what git ignores is not there: ${leftOut.slice(0, MOST_NAMED).join(", ")}`,
    "Name the files that the check needs under workspace.carry in remand.yaml, or have the check make them first.",
  );
}

const MOST_NAMED = 8;
