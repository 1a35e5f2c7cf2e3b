import { placeOfFailure } from "../../core/gates/base-failures.ts";
import type { Event, Recorded } from "../../core/events/event.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { byText } from "../../stdx/sorted-map.ts";

/** A test, or a whole check, that both passed and failed on one tree. */
export interface Flake {
  /** The name in judgements. */
  readonly name: string;
  readonly test: string;
  readonly file: string | null;
  readonly check: string | null;
  readonly times: number;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly stories: readonly string[];
  /** The last trees on which it was flaky. */
  readonly trees: readonly string[];
}

/** Records the flakes in a line of the journal. Folded over the whole journal, this is the list that is stored. */
export function noteFlakes(known: Map<string, Flake>, { at, story, event }: Recorded): void {
  const seen = flakesIn(event);
  if (seen === null) return;
  const { flaky, findings, tree } = seen;
  for (const name of flaky) {
    const before = known.get(name);
    const flake = findings.find((finding) => finding.category === "flaky" && nameOf(finding) === name);
    known.set(name, {
      name,
      test: flake?.symbol ?? before?.test ?? titleOf(name),
      file: flake?.file ?? before?.file ?? fileOf(name),
      check: flake?.source ?? before?.check ?? checkOf(name),
      times: (before?.times ?? 0) + 1,
      firstSeenAt: before?.firstSeenAt ?? at,
      lastSeenAt: at,
      stories: [...new Set([...(before?.stories ?? []), ...(story === null ? [] : [story])])],
      trees: [...new Set([...(before?.trees ?? []), tree])].slice(-MOST_TREES),
    });
  }
}

/** The flakes of a judgement, or of a story's base. */
function flakesIn(event: Event): { flaky: readonly string[]; findings: readonly Finding[]; tree: string } | null {
  if (event.type === "story.prepared") return { flaky: event.flaky ?? [], findings: [], tree: event.tree };
  if (event.type !== "gate.judged") return null;
  const { flaky = [], findings, tree } = event.judgement;
  return { flaky, findings, tree };
}

const titleOf = (name: string): string => name.slice(name.indexOf(" > ") < 0 ? 0 : name.indexOf(" > ") + 3);

/**
 * The file of a test, with which its name starts; `null` if the name starts with the check, because the runner reported
 * no file.
 */
function fileOf(name: string): string | null {
  const place = placeOfFailure(name);
  return /^\S*[./]\S*$/.test(place) ? place : null;
}

/** The check; a whole check is its own name. */
function checkOf(name: string): string | null {
  const place = placeOfFailure(name);
  return place === name || fileOf(name) !== null ? null : place;
}

/** Sorts flakes, the latest first. */
export function flakeList(known: ReadonlyMap<string, Flake>): Flake[] {
  return [...known.values()].sort((a, b) => b.lastSeenAt - a.lastSeenAt || byText(a.name, b.name));
}

const MOST_TREES = 50;

/** The name of a test: its location and its title. */
const nameOf = ({ file, source, symbol }: Finding): string => `${file ?? source} > ${symbol ?? ""}`;
