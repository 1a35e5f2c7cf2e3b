/** Plain delta debugging over the hunks that are applied, as it is usually described: no ranking, no signatures. */
export function ddmin(
  all: readonly number[],
  fails: (applied: readonly number[]) => boolean,
): { found: readonly number[]; runs: number } {
  const known = new Map<string, boolean>();
  let runs = 0;
  const test = (applied: readonly number[]): boolean => {
    const key = applied.join(",");
    const before = known.get(key);
    if (before !== undefined) return before;
    runs++;
    const result = fails(applied);
    known.set(key, result);
    return result;
  };
  let current = [...all];
  let parts = 2;
  while (current.length > 1) {
    const size = Math.ceil(current.length / parts);
    const chunks = Array.from({ length: Math.ceil(current.length / size) }, (_, at) =>
      current.slice(at * size, (at + 1) * size),
    );
    const subset = chunks.find((chunk) => test(chunk));
    const rest =
      subset === undefined && parts > 2
        ? chunks.map((chunk) => current.filter((id) => !chunk.includes(id))).find((each) => test(each))
        : undefined;
    if (subset !== undefined) [current, parts] = [subset, 2];
    else if (rest !== undefined) [current, parts] = [rest, Math.max(parts - 1, 2)];
    else if (parts < current.length) parts = Math.min(parts * 2, current.length);
    else break;
  }
  return { found: current, runs };
}
