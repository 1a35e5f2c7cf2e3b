import { expect, test } from "vitest";
import { missingFor, playRow, type Row } from "./kit.ts";

const titleOf = ({ stack, does }: Row): string => `${stack.name}: ${does}`;

/** The work is green for its author, with the bug still in, and it is not accepted. The answer names the test. */
export function refuses(rows: readonly Row[]): void {
  test.for(rows.map((row) => [titleOf(row), row] as const))("%s", ([, row], { skip }) => {
    const missing = missingFor(row);
    if (missing !== null) skip(missing);
    const { exit, out, answer, before, bare, bareOutput } = playRow(row);
    expect.soft(before, "the check at the start").not.toBe(0);
    expect(bare, `${titleOf(row)}: ${bareOutput}`).toBe(0);
    const isRight = exit !== 0 && answer.includes(row.says ?? row.stack.test);
    if (row.noted !== undefined) expect(answer, "the accept line").toContain(row.noted);
    if (row.pending !== undefined) expect(isRight, `no longer pending: ${row.pending}`).toBe(false);
    else expect(isRight ? "" : `${titleOf(row)}: exit ${exit}\n${out}`).toBe("");
  });
}

/** The check is green and the work is accepted at once. */
export function accepts(rows: readonly Row[]): void {
  test.for(rows.map((row) => [titleOf(row), row] as const))("%s", ([, row], { skip }) => {
    const missing = missingFor(row);
    if (missing !== null) skip(missing);
    const { exit, out, bare, bareOutput } = playRow(row);
    expect(bare, `${titleOf(row)}: ${bareOutput}`).toBe(0);
    expect(exit === 0 ? "" : `${titleOf(row)}: exit ${exit}\n${out}`).toBe("");
  });
}
