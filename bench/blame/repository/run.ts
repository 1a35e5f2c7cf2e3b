import { Unusable } from "../../bench-result.ts";
import { chanceOf, type Chance } from "../random.ts";
import { composedIteration, isGreen, stretches, treeOf, type Iteration } from "./iterations.ts";
import { CATEGORIES, type Category, type RepositoryCase } from "./cases.ts";
import { groundOf, several, single, type Ground, type Slip } from "./making.ts";
import { breakEnvironment, flaky, joint, preExisting, reachedBody, unmet, wasBefore } from "./others.ts";
import { openSaved, type SavedCases, type SavedTrial } from "./saved.ts";
import { isRight } from "./score.ts";
import { triedIn } from "./trial.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

export interface RepositorySpec {
  readonly path: string;
  readonly command: string;
  /** The number of cases with one culprit; a quarter as many of each other kind. */
  readonly cases: number;
  readonly seed: number;
  readonly minutes: number;
  readonly withPlain: boolean;
  /** The folder that keeps the clone, the cases and the answers; a run that finds cases there continues them. */
  readonly save: string | null;
  /** Repeats saved cases instead of making new ones: `all`, `misses`, or their numbers. */
  readonly repeat: string | null;
}

/** Makes cases from a repository's history and from innocent edits, and tries each of them at once. */
export async function tryRepository(wish: RepositorySpec): Promise<readonly SavedTrial[]> {
  const until = performance.now() + wish.minutes * 60_000;
  const workshop = await openWorkshop(wish.path, wish.command, wish.save);
  const saved = openSaved(wish.save, workshop.name);
  try {
    if (wish.repeat === null) await tryNewCases(workshop, wish, saved, until);
    else await tryAgain(workshop, wish, saved, until);
    return saved.trials;
  } finally {
    await workshop.close();
  }
}

/** Repeats saved cases with the current program: all, or those that were not answered right. */
async function tryAgain(workshop: Workshop, wish: RepositorySpec, saved: SavedCases, until: number): Promise<void> {
  const before = new Map(saved.trials.map((trial) => [trial.at, trial]));
  for (const [at, each] of (await saved.cases(workshop)).entries()) {
    const last = before.get(at);
    if (performance.now() > until || (wish.repeat === "misses" && last !== undefined && isRight(last))) continue;
    if (/^\d/.test(wish.repeat ?? "") && !wish.repeat!.split(",").includes(String(at))) continue;
    tell(saved.addTrial(at, await triedIn(workshop, each, wish)));
  }
}

async function tryNewCases(workshop: Workshop, wish: RepositorySpec, saved: SavedCases, until: number): Promise<void> {
  await mustPass(workshop);
  const counts = new Map<Category, number>();
  const count = (category: Category): number => counts.get(category) ?? 0;
  for (const { case: each } of saved.trials) counts.set(each.category, count(each.category) + 1);
  const isWanted = (category: Category): boolean =>
    performance.now() < until && count(category) < limitOf(category, wish.cases);
  const tryCase = async (each: RepositoryCase | null): Promise<void> => {
    if (each === null || !isWanted(each.category)) return;
    counts.set(each.category, count(each.category) + 1);
    const at = saved.addCase(each);
    tell(saved.addTrial(at, await triedIn(workshop, each, wish)));
  };
  // A later run continues after the cases of earlier ones.
  const seed = wish.seed + 1000 * saved.trials.length;
  for await (const iteration of iterationsOf(workshop, chanceOf(seed), until)) {
    console.error(`${iteration.label} passes (${Math.round((until - performance.now()) / 1000)} s left)`);
    const ground = await groundOf(workshop, iteration, chanceOf(seed + saved.trials.length));
    await casesOn(ground, isWanted, tryCase);
    if (CATEGORIES.every((category) => !isWanted(category) || category === "new code")) break;
  }
  if (saved.trials.length === 0)
    throw new Unusable(
      `no slip turned \`${wish.command}\` red in ${wish.minutes} minutes: does it test the files of ${workshop.name}, or an installed copy of them? More time is given by --minutes.`,
    );
}

const limitOf = (category: Category, cases: number): number =>
  category === "single" ? cases : category === "new code" ? Math.ceil(cases / 2) : Math.ceil(cases / 4);

async function mustPass(workshop: Workshop): Promise<void> {
  const head = treeOf(workshop, "HEAD");
  const run = await workshop.suite(head);
  if (run.passed) return;
  const last = run.output.trim().split("\n").slice(-15).join("\n  ");
  throw new Unusable(
    [
      `\`${workshop.command}\` does not pass on HEAD of ${workshop.name} (${run.judgement.result}: ${run.judgement.summary}).`,
      "Slips can be told only where the tests pass without them. Install what they need, or name a command that passes by --test.",
      `The end of what it printed:\n  ${last}`,
    ].join("\n"),
  );
}

/** Real and composed iterations in turn, as long as there are any and time is left. */
async function* iterationsOf(workshop: Workshop, chance: Chance, until: number): AsyncGenerator<Iteration> {
  const real = stretches(workshop, chance);
  let isDry = false;
  for (let serial = 1; serial < 200 && performance.now() < until; serial++) {
    let found: Iteration | null = null;
    while (serial % 2 === 1 && !isDry && found === null && performance.now() < until) {
      const next = await real.next();
      if (next.done === true) isDry = true;
      else if (await isGreen(workshop, next.value)) found = next.value;
    }
    found ??= await composedIteration(workshop, chance, serial);
    if (found !== null) yield found;
  }
}

const TRIES = 10;
const SLIPS = 3;

async function casesOn(
  ground: Ground,
  isWanted: (category: Category) => boolean,
  tryCase: (each: RepositoryCase | null) => Promise<void>,
): Promise<void> {
  const slips: Slip[] = [];
  const isShort = (): boolean => isWanted("single") || isWanted("multi") || isWanted("pre-existing");
  for (let tries = 0; tries < TRIES * SLIPS && slips.length < SLIPS && isShort(); tries++) {
    const slip = await single(ground, slips);
    if (slip === null) continue;
    slips.push(slip);
    await tryCase(slip.each);
  }
  const put = async (category: Category, make: () => Promise<RepositoryCase | null>): Promise<void> => {
    if (isWanted(category)) await tryCase(await make());
  };
  await put("multi", () => several(ground, slips));
  await put("pre-existing", () => preExisting(ground, slips));
  await put("unmet", () => unmet(ground));
  await put("environment", () => breakEnvironment(ground));
  const others = ["lookalike", "environment", "joint", "flaky"] as const;
  const reached = others.some(isWanted) ? await reachedBody(ground) : null;
  if (reached === null) return;
  const { body, seen } = reached;
  await put("lookalike", () => Promise.resolve(seen));
  await put("environment", () => wasBefore(ground, seen, "environment"));
  await put("joint", () => joint(ground, body));
  await put("flaky", () => flaky(ground, body));
}

function tell({ at, repository, case: each, kind, proven, shown, named, runs, seconds, ...trial }: SavedTrial): void {
  const { ranks, rankAfter } = trial;
  const place = ranks === null ? "" : `, ranked ${ranks.own}, then ${rankAfter} of ${each.hunkCount}`;
  const truth = each.truth.length === 0 ? "" : ` (truth ${each.truth.join(",")}, named ${named.join(",")})`;
  const level = proven ? ", proven" : shown ? ", shown" : "";
  console.error(
    `${repository} #${at} ${each.category} [${each.kinds.join(" + ")}] ${each.label}: ${kind}${level}${truth}${place}; ${runs} runs, ${seconds.toFixed(1)} s`,
  );
}
