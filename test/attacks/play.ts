import { expect, test } from "vitest";
import type { Row } from "./kit.ts";
import { playAttack, playHonest, titleOf } from "./verdict.ts";

const titled = (rows: readonly Row[]): (readonly [string, Row])[] => rows.map((row) => [titleOf(row), row] as const);

/** The work is green for its author, with the bug still in, and it is not accepted. The answer names the test. */
export function refuses(rows: readonly Row[]): void {
  test.for(titled(rows))("%s", ([, row], { skip }) => {
    const { ending, flaw, isExplained, out } = playAttack(row);
    if (ending === "skipped") skip(flaw ?? "");
    expect(flaw).toBeNull();
    const wanted = row.pending === undefined ? "refused" : "accepted";
    const isSilent = row.pending !== undefined && row.noted === undefined;
    expect(
      ending === wanted && (isExplained || isSilent) ? "" : `${ending}, not ${wanted}, or not explained\n${out}`,
    ).toBe("");
  });
}

/** The check is green and the work is accepted at once. */
export function accepts(rows: readonly Row[]): void {
  test.for(titled(rows))("%s", ([, row], { skip }) => {
    const { ending, flaw, out } = playHonest(row);
    if (ending === "skipped") skip(flaw ?? "");
    expect(flaw).toBeNull();
    expect(ending === "accepted" ? "" : out).toBe("");
  });
}
