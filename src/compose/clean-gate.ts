import type { Gate, GateRequest } from "../ports/gate.ts";
import type { Laboratory } from "../ports/laboratory.ts";

/**
 * Runs a gate in a clean checkout of what it judges, made for this one judgement. What an agent left in its folder
 * beside the commit (ignored files, installed packages, settings of git) is not there. A request that comes with a
 * clean checkout already keeps it.
 */
export function inCleanCheckout(gate: Gate, checkouts: Laboratory | undefined): Gate {
  if (checkouts === undefined) return gate;
  const within = async <T>(
    request: GateRequest,
    signal: AbortSignal,
    work: (clean: GateRequest) => Promise<T>,
  ): Promise<T> => {
    const { commit, base, tree, path, workedIn } = request;
    // Without a tree it is not known what is judged: the files are those of the folder.
    if (workedIn !== undefined || tree === "") return work(request);
    const bench = await checkouts.open({ signal, commit: commit === "" ? base : commit, tree, base });
    try {
      return await work({ ...request, path: bench.path, workedIn: path });
    } finally {
      await bench.close();
    }
  };
  const { baseline } = gate;
  return {
    ...gate,
    judge: (request, control) => within(request, control.signal, (clean) => gate.judge(clean, control)),
    ...(baseline === undefined
      ? {}
      : {
          baseline: (request, control) => within(request, control.signal, (clean) => baseline(clean, control)),
        }),
  };
}
