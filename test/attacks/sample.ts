import type { Row } from "./kit.ts";

/** Bases whose runner takes a second to start, many times in a row: taken only where a class has no other. */
const STARTS_SLOWLY = /^(?:Vitest|Jest|pnpm|snapshots|codegen)/;

/** As many rows as asked for, of every class in turn, each time on the base that was taken least. */
export function sampleOf(rows: readonly Row[], count: number): readonly Row[] {
  const left = rows.filter(({ needs }) => needs === undefined);
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const used = new Map(
    rows.flatMap(({ stack }) => (STARTS_SLOWLY.test(stack.name) ? [[stack.name, count] as const] : [])),
  );
  const chosen: Row[] = [];
  for (let turn = 0; chosen.length < count && left.length > 0; turn++) {
    const kind = kinds[turn % kinds.length];
    const [next] = left
      .filter((row) => row.kind === kind)
      .toSorted((a, b) => (used.get(a.stack.name) ?? 0) - (used.get(b.stack.name) ?? 0));
    if (next === undefined) continue;
    left.splice(left.indexOf(next), 1);
    used.set(next.stack.name, (used.get(next.stack.name) ?? 0) + 1);
    chosen.push(next);
  }
  return chosen;
}
