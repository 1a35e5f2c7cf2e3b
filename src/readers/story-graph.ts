/**
 * The cycles in a graph of dependencies, each once, as the ids on it in order (`a → b → a` is `[a, b]`). Every
 * cycle there is contains one that is named, so a graph without named cycles has none.
 *
 * A walk in depth with its own stack: a chain of any length fits, and each edge is looked at once.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const depth = new Map<string, number>();
  for (const root of graph.keys()) {
    if (done.has(root)) continue;
    const path: { readonly id: string; next: number }[] = [{ id: root, next: 0 }];
    depth.set(root, 0);
    while (path.length > 0) {
      const top = path.at(-1)!;
      const to = graph.get(top.id)![top.next++];
      if (to === undefined) {
        done.add(top.id);
        depth.delete(top.id);
        path.pop();
      } else if (depth.has(to)) {
        // Naming is the one thing that costs more than the edge itself, so it is bounded.
        if (cycles.length < MOST_NAMED) cycles.push(path.slice(depth.get(to)).map((step) => step.id));
      } else if (!done.has(to) && graph.has(to)) {
        depth.set(to, path.length);
        path.push({ id: to, next: 0 });
      }
    }
  }
  return cycles;
}

/** Once these are mended, the next reading names the others. */
const MOST_NAMED = 100;

const MOST_SHOWN = 20;

/** `a → b → a`, shortened in the middle where it is long. */
export function cycleText(cycle: readonly string[]): string {
  const names = cycle.length > MOST_SHOWN ? [...cycle.slice(0, MOST_SHOWN - 2), "…", cycle.at(-1)!] : cycle;
  return [...names, cycle[0]!].join(" → ");
}
