import { median, type BenchResult } from "../../bench-result.ts";
import { CATEGORIES, SLIP_PLACES, type Category, type SlipPlace } from "./cases.ts";
import type { SavedTrial } from "./saved.ts";
import { sameSet } from "./trial.ts";

type Trials = readonly SavedTrial[];

/** The right answers for each category. A slip in new code with tests may be named as a change or as a slip. */
const RIGHT: Readonly<Record<Category, readonly string[]>> = {
  single: ["hunk"],
  "new code": ["hunk", "slip"],
  lookalike: ["hunk"],
  multi: ["multi"],
  joint: ["joint"],
  unmet: ["unmet"],
  "pre-existing": ["pre-existing"],
  environment: ["environment"],
  flaky: ["flaky"],
};

const isExact = ({ named, case: { truth } }: SavedTrial): boolean => sameSet(named, truth);
const isRightKind = ({ kind, case: { category } }: SavedTrial): boolean => RIGHT[category].includes(kind);
/** Whether the kind is right and, if changes are the cause, exactly those changes are named. */
export const isRight = (trial: SavedTrial): boolean =>
  isRightKind(trial) && (trial.case.truth.length === 0 || isExact(trial));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (list: readonly unknown[], part: number): number => (100 * part) / list.length;

/** The results by category, compared with the peers in the same run. */
export function scoresOf(name: string, trials: Trials): BenchResult[] {
  const of = (...categories: Category[]): Trials => trials.filter((trial) => categories.includes(trial.case.category));
  const blamed = of("single", "lookalike", "multi", "joint", "new code");
  const regressions = of("single", "lookalike");
  const put = rowsOf(name);
  return [
    ...rankingRows(put, regressions),
    ...reliabilityRows(put, blamed),
    ...SLIP_PLACES.flatMap((place) =>
      placeRows(
        put,
        place,
        of("single").filter((trial) => trial.case.place === place),
      ),
    ),
    ...CATEGORIES.flatMap((category) => exactRows(put, category, of(category))),
    put("false proofs", falselyProven(trials), "cases", { limit: 0, against: "0" }),
    put(`right kind over all (${trials.length} cases)`, percent(trials, trials.filter(isRightKind).length), "%", {
      target: 90,
      against: "all",
    }),
    ...runRows(put, of("single", "lookalike", "new code")),
    ...briefRows(put, blamed),
  ].filter(({ value }) => !Number.isNaN(value));
}

type Put = (
  what: string,
  value: number,
  unit: string,
  beside: { readonly target?: number; readonly limit?: number; readonly against: string },
) => BenchResult;

/** Rows of results. A share with a lower limit has the target divided by the result as its ratio. */
function rowsOf(name: string): Put {
  return (what, value, unit, { target, limit, against }) => ({
    name: `blame, ${name}: ${what}`,
    value,
    unit,
    ratio: target !== undefined ? target / value : limit === undefined ? 1 : limit === 0 ? value : value / limit,
    against,
    limit: target === undefined && limit === undefined ? null : limit === 0 ? 0 : 1,
  });
}

function rankingRows(put: Put, trials: Trials): BenchResult[] {
  const ranks = trials.flatMap((trial) => trial.ranks ?? []);
  const within = (of: "own" | "asWritten" | "quickMix", most: number): number =>
    percent(ranks, ranks.filter((each) => each[of] <= most).length);
  const hunks = median(trials.map((trial) => trial.case.hunkCount));
  const row = (most: number, target: number | null): BenchResult =>
    put(
      `top-${most} without a run, one culprit (${trials.length} cases, median ${hunks} hunks)`,
      within("own", most),
      "%",
      {
        ...(target === null ? {} : { target }),
        against: `S3 as written ${within("asWritten", most).toFixed(0)} %, a quick mix ${within("quickMix", most).toFixed(0)} %`,
      },
    );
  return [row(1, 60), row(3, 80), row(5, null)];
}

const BINS = [0, 0.5, 0.7, 0.85, 0.95, 1.01];

function reliabilityRows(put: Put, trials: Trials): BenchResult[] {
  return BINS.slice(1).flatMap((high, at) => {
    const inside = trials.filter(({ confidence }) => confidence >= BINS[at]! && confidence < high);
    if (inside.length === 0) return [];
    const right = inside.filter(({ ranks }) => ranks !== null && ranks.own <= 1);
    const said = 100 * mean(inside.map(({ confidence }) => confidence));
    return [
      put(
        `right by reading, where it is ${BINS[at]} to ${Math.min(1, high)} sure (${inside.length} cases)`,
        percent(inside, right.length),
        "%",
        {
          against: `said ${said.toFixed(0)} %`,
        },
      ),
    ];
  });
}

const PLACE_NAMES: Readonly<Record<SlipPlace, string>> = {
  inside: "inside a change",
  own: "in a change of its own",
  untouched: "in a file not changed otherwise",
};

function placeRows(put: Put, place: SlipPlace, trials: Trials): BenchResult[] {
  if (trials.length === 0) return [];
  const ranks = trials.flatMap((trial) => trial.ranks?.own ?? []);
  const within = (most: number): string => percent(ranks, ranks.filter((rank) => rank <= most).length).toFixed(0);
  const proven = trials.filter((trial) => trial.proven && isExact(trial)).length;
  return [
    put(
      `exact, one culprit ${PLACE_NAMES[place]} (${trials.length} cases)`,
      percent(trials, trials.filter(isExact).length),
      "%",
      {
        against: `top-1/3/5 ${within(1)}/${within(3)}/${within(5)} %, ${proven} proven, ${mean(trials.map(({ runs }) => runs)).toFixed(1)} runs`,
      },
    ),
  ];
}

const TARGETS: Partial<Record<Category, number>> = { single: 92, multi: 75, joint: 75 };

function exactRows(put: Put, category: Category, trials: Trials): BenchResult[] {
  if (trials.length === 0) return [];
  const count = `(${trials.length} cases)`;
  const kind = put(`right kind, ${category} ${count}`, percent(trials, trials.filter(isRightKind).length), "%", {
    against: "all",
  });
  if (trials.every((trial) => trial.case.truth.length === 0)) return [kind];
  const target = TARGETS[category];
  const plain = trials.filter((trial) => trial.plain !== null);
  const plainly = percent(plain, plain.filter((trial) => sameSet(trial.plain!.found, trial.case.truth)).length);
  const written = percent(trials, trials.filter((trial) => trial.asWrittenExact).length);
  return [
    put(`exact set with proof, ${category} ${count}`, percent(trials, trials.filter(isExact).length), "%", {
      ...(target === undefined ? {} : { target }),
      against: `plain ddmin ${plain.length === 0 ? "not run" : `${plainly.toFixed(0)} %`}, S3 as written ${written.toFixed(0)} %`,
    }),
    put(`proven, ${category}`, percent(trials, trials.filter(({ proven }) => proven).length), "%", { against: "all" }),
    kind,
  ];
}

function falselyProven(trials: Trials): number {
  // A wrong culprit; or a wrong kind, if no change is the cause.
  const isFalse = (trial: SavedTrial): boolean =>
    trial.case.truth.length === 0 ? !isRightKind(trial) : !isExact(trial);
  return trials.filter((trial) => trial.proven && isFalse(trial)).length;
}

function runRows(put: Put, trials: Trials): BenchResult[] {
  const search = mean(trials.map(({ searchRuns }) => searchRuns));
  const all = mean(trials.map(({ runs }) => runs));
  const plain = mean(trials.flatMap((trial) => trial.plain?.runs ?? []));
  const seconds = median(trials.map((trial) => trial.seconds));
  return [
    put("runs of the search, one culprit, mean", search, "runs", {
      limit: 4,
      against: `plain ddmin ${Number.isNaN(plain) ? "not run" : plain.toFixed(1)}`,
    }),
    put("runs in all with triage and proof, one culprit, mean", all, "runs", { limit: 9, against: "9" }),
    put("seconds of a proof, one culprit, median", seconds, "s", { against: "-" }),
  ];
}

function briefRows(put: Put, trials: Trials): BenchResult[] {
  const briefs = trials.flatMap((trial) => trial.brief ?? []);
  if (briefs.length === 0) return [];
  const open = briefs.filter(({ isOpen }) => isOpen).length;
  const inside = percent(briefs, briefs.filter(({ isTruthInside }) => isTruthInside).length);
  return [
    put(`truth inside the scope of the brief (${briefs.length} briefs, ${open} with an open scope)`, inside, "%", {
      target: 97,
      against: "all",
    }),
    put("files of the scope, median", median(briefs.map(({ scopeFiles }) => scopeFiles)), "files", {
      limit: 3,
      against: "3",
    }),
    put("tokens of the brief, median (characters / 4)", median(briefs.map(({ tokens }) => tokens)), "tokens", {
      limit: 1500,
      against: "1500",
    }),
    put("cases that a person is asked about instead", trials.length - briefs.length, "cases", {
      against: `${trials.length}`,
    }),
  ];
}

type ClassName = string;

/** The classes of the table: one culprit by its place, and the other categories. */
function classesOf(trials: Trials): (readonly [ClassName, Trials])[] {
  const of = (...categories: Category[]): Trials => trials.filter((trial) => categories.includes(trial.case.category));
  const single = of("single", "lookalike");
  return [
    ...SLIP_PLACES.map((place): [ClassName, Trials] => [
      `one culprit, ${PLACE_NAMES[place]}`,
      single.filter((trial) => trial.case.place === place),
    ]),
    ["one culprit, all", single],
    ["slip in new code", of("new code")],
    ["several, each by itself", of("multi")],
    ["several, only together", of("joint")],
    ["not built yet", of("unmet")],
    ["failed before", of("pre-existing")],
    ["environment", of("environment")],
    ["flaky", of("flaky")],
    ["all", trials],
  ];
}

/** One row per class: the results, their cost, and whether *proven* and *shown* are reliable. */
export function classTable(trials: Trials): string[] {
  const share = (list: Trials, isIt: (trial: SavedTrial) => boolean): string =>
    list.length === 0 ? "-" : `${list.filter(isIt).length}/${list.length}`;
  const top = (list: Trials, most: number): string => {
    const ranked = list.filter((trial) => trial.ranks !== null);
    return ranked.length === 0
      ? "-"
      : percent(ranked, ranked.filter((trial) => trial.ranks!.own <= most).length).toFixed(0);
  };
  const row = ([name, list]: readonly [ClassName, Trials]): string[] => [
    name,
    `${list.length}`,
    share(list, (trial) => trial.proven && isRight(trial)),
    share(list, isRight),
    share(list, isRightKind),
    [1, 3, 5].map((most) => top(list, most)).join("/"),
    `${mean(list.map(({ runs }) => runs)).toFixed(1)} (${median(list.map(({ runs }) => runs))})`,
    median(list.map(({ seconds }) => seconds)).toFixed(1),
    `${falselyProven(list)}`,
    share(
      list.filter(({ shown }) => shown),
      isRight,
    ),
    share(
      list.filter(({ proven, shown, sure, kind }) => !proven && !shown && sure > 0.6 && kind === "hunk"),
      isRight,
    ),
  ];
  const head =
    "class,cases,exact with proof,exact,right kind,top-1/3/5 %,runs,seconds,false proven,shown right,unproven above 0.6";
  const rows = [
    head.split(","),
    ...classesOf(trials)
      .filter(([, list]) => list.length > 0)
      .map(row),
  ];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).toSpliced(1, 0, `|${"---|".repeat(rows[0]!.length)}`);
}
