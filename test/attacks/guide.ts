import type { Row } from "./kit.ts";
import { ATTACKS, HONEST } from "./rows.ts";

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** The tables of docs/guide/verification.md, from the rows that `npm run attack` runs. */
export function guideTables(): readonly string[] {
  return [
    counts("attack", "refused", ATTACKS),
    counts("honest change", "accepted", HONEST),
    every(ATTACKS),
    every(HONEST),
  ];
}

const kindsOf = (rows: readonly Row[]): readonly string[] => [...new Set(rows.map(({ kind }) => kind))];

function counts(what: string, outcome: string, rows: readonly Row[]): string {
  const isRight = (row: Row): boolean => row.pending === undefined;
  const line = (name: string, some: readonly Row[]): readonly string[] => [
    name,
    String(some.length),
    String(some.filter(isRight).length),
    [...new Set(some.map(({ stack }) => stack.name))].join(", "),
  ];
  return table(
    [`class of ${what}`, "rows", outcome, "with"],
    [
      ...kindsOf(rows).map((kind) =>
        line(
          kind,
          rows.filter((row) => row.kind === kind),
        ),
      ),
      line("all", rows),
    ],
  );
}

/** What is done, with the runners it is done to. */
function every(rows: readonly Row[]): string {
  const titles = [...new Set(rows.map(({ kind, does }) => `${kind}\0${does}`))];
  return table(
    ["class", "the agent …", "with", "open"],
    titles.map((title) => {
      const [kind = "", does = ""] = title.split("\0");
      const same = rows.filter((row) => row.kind === kind && row.does === does);
      const open = [...new Set(same.flatMap(({ pending }) => (pending === undefined ? [] : [pending])))];
      const bases = same.map(({ stack, isRework }) => `${stack.name}${isRework ? " (rework)" : ""}`);
      return [kind, does, bases.join(", "), open.join("; ")];
    }),
  );
}
