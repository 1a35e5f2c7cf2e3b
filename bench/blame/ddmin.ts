export interface Minimised {
  readonly found: readonly number[];
  readonly runs: number;
}

/** Yields trees, and receives whether their tests fail. */
type Asking = Generator<readonly number[], readonly number[], boolean>;

/** Plain delta debugging over the applied hunks, as usually described: without ranking or signatures. */
function* minimising(all: readonly number[]): Asking {
  let current = [...all];
  let parts = 2;
  while (current.length > 1) {
    const size = Math.ceil(current.length / parts);
    const chunks = Array.from({ length: Math.ceil(current.length / size) }, (_, at) =>
      current.slice(at * size, (at + 1) * size),
    );
    const subset = yield* firstOf(chunks);
    const rest =
      subset === undefined && parts > 2
        ? yield* firstOf(chunks.map((chunk) => current.filter((id) => !chunk.includes(id))))
        : undefined;
    if (subset !== undefined) [current, parts] = [[...subset], 2];
    else if (rest !== undefined) [current, parts] = [[...rest], Math.max(parts - 1, 2)];
    else if (parts < current.length) parts = Math.min(parts * 2, current.length);
    else break;
  }
  return current;
}

function* firstOf(
  sets: readonly (readonly number[])[],
): Generator<readonly number[], readonly number[] | undefined, boolean> {
  for (const each of sets) if (yield each) return each;
  return undefined;
}

export function ddmin(all: readonly number[], fails: (applied: readonly number[]) => boolean): Minimised {
  const known = new Map<string, boolean>();
  const walk = minimising(all);
  let step = walk.next();
  while (!step.done) {
    const key = step.value.join(",");
    if (!known.has(key)) known.set(key, fails(step.value));
    step = walk.next(known.get(key)!);
  }
  return { found: step.value, runs: known.size };
}

/** The same for asynchronous runs. Finds nothing if no runs are left. */
export async function ddminWith(
  all: readonly number[],
  mostRuns: number,
  fails: (applied: readonly number[]) => Promise<boolean>,
): Promise<Minimised> {
  const known = new Map<string, boolean>();
  const walk = minimising(all);
  let step = walk.next();
  while (!step.done) {
    const key = step.value.join(",");
    if (!known.has(key)) {
      if (known.size >= mostRuns) return { found: [], runs: known.size };
      known.set(key, await fails(step.value));
    }
    step = walk.next(known.get(key)!);
  }
  return { found: step.value, runs: known.size };
}
