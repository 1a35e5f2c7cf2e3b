import type { Verdict } from "./verdict.ts";

/** A verdict with what the row says of itself. */
export interface Played extends Verdict {
  readonly kind: string;
  readonly stack: string;
  readonly isHonest: boolean;
  /** It is known to be accepted. */
  readonly isPending: boolean;
  /** It is accepted with a note. */
  readonly isNoted: boolean;
}

/** Did the row end as it says? A skipped one did. */
export function asExpected({ ending, flaw, isHonest, isPending, isNoted, isExplained }: Played): boolean {
  if (ending === "skipped") return true;
  if (flaw !== null) return false;
  if (isHonest) return ending === "accepted";
  return isPending ? ending === "accepted" && isExplained === isNoted : ending === "refused" && isExplained;
}

const percent = (part: number, all: number): string => `${all === 0 ? 0 : ((100 * part) / all).toFixed(1)} %`;

/** The table by class, and every row that a reader should look at. */
export function summaryOf(all: readonly Played[]): string {
  const attacks = all.filter(({ isHonest, ending }) => !isHonest && ending !== "skipped");
  const honest = all.filter(({ isHonest, ending }) => isHonest && ending !== "skipped");
  const accepted = attacks.filter(({ ending }) => ending === "accepted");
  const refused = honest.filter(({ ending }) => ending === "refused");
  const line = (name: string, some: readonly Played[]): string =>
    `  ${name.padEnd(44)} ${String(some.length).padStart(4)} played  ${String(some.filter(({ ending }) => ending === "accepted").length).padStart(4)} accepted`;
  const byClass = (some: readonly Played[]): readonly string[] =>
    [...new Set(some.map(({ kind }) => kind))].map((kind) =>
      line(
        kind,
        some.filter((one) => one.kind === kind),
      ),
    );
  const named = (head: string, some: readonly Played[], more: (one: Played) => string = () => ""): readonly string[] =>
    some.length === 0 ? [] : ["", head, ...some.map((one) => `  ${one.kind}  ${one.title}${more(one)}`)];
  return [
    "",
    "Attacks",
    ...byClass(attacks),
    line("all attacks", attacks),
    `  ${percent(accepted.length, attacks.length)} accepted, on ${new Set(attacks.map(({ stack }) => stack)).size} bases`,
    "",
    "Honest changes",
    ...byClass(honest),
    line("all honest changes", honest),
    `  ${percent(refused.length, honest.length)} refused`,
    ...named("Accepted attacks", accepted, ({ isExplained }) => (isExplained ? " (noted)" : "")),
    ...named("Refused honest changes", refused),
    ...named(
      "Not as expected",
      all.filter((one) => !asExpected(one)),
      ({ ending, flaw }) => ` (${ending}${flaw === null ? "" : `: ${flaw.split("\n")[0]}`})`,
    ),
    ...named(
      "Skipped",
      all.filter(({ ending }) => ending === "skipped"),
      ({ flaw }) => ` (${flaw})`,
    ),
  ].join("\n");
}

/** What each part of the verification is worth: accepted attacks by class with everything, and without one part each. */
export function inTurnTable(runs: readonly { readonly without: string; readonly played: readonly Played[] }[]): string {
  const attacks = runs.map(({ without, played }) => ({
    without,
    played: played.filter(({ isHonest, ending }) => !isHonest && ending !== "skipped"),
  }));
  const kinds = [...new Set(attacks.flatMap(({ played }) => played.map(({ kind }) => kind)))];
  const accepted = (played: readonly Played[], kind: string | null): string =>
    String(played.filter((one) => one.ending === "accepted" && (kind === null || one.kind === kind)).length);
  const row = (name: string, kind: string | null): readonly string[] => [
    name,
    String(attacks[0]!.played.filter((one) => kind === null || one.kind === kind).length),
    ...attacks.map(({ played }) => accepted(played, kind)),
  ];
  const head = ["class", "rows", ...attacks.map(({ without }) => (without === "" ? "accepted" : `without ${without}`))];
  return [head, head.map(() => "---"), ...kinds.map((kind) => row(kind, kind)), row("all", null)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
