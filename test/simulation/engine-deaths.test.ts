import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { ENGINE_DEATHS } from "../../src/core/stories/budget.ts";
import type { Command } from "../../src/core/stories/command.ts";
import { storyId, type StoryId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { stepsBound } from "./steps-bound.ts";
import { decide } from "../../src/decide/decide.ts";
import { evolve, fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { chance } from "./chance.ts";
import { explore } from "./explore.ts";
import { checkJournal, outcomeOf, simulate } from "./simulate.ts";
import { answer, ENGINE_DIED, outcomesOf, recordedEvent, story } from "../kit/story-world.ts";

const SEEDS = Math.ceil(Number(process.env["REMAND_SEEDS"] ?? 2000) / 100);
const FROM = Number(process.env["REMAND_SEED"] ?? 0);

const base = presetPolicy("critic-audit");
const POLICY: Policy = {
  ...base,
  autonomy: "full",
  deliver: "merge",
  merge: "auto",
  phases: [{ phase: "implement", gates: ["checks", "ci"] }],
  limits: {
    ...base.limits,
    errors: 2,
    inconclusives: 2,
    blocked: 1,
    remediations: 1,
    failures: { ...base.limits.failures, checks: 2, ci: 2 },
  },
};

const begun = (policy: Policy): RunState =>
  fold(
    [
      recordedEvent(0, null, { type: "policy.set", policy, by: "test" }),
      recordedEvent(0, "a", { type: "story.added", story: story("a") }),
    ],
    EMPTY_RUN,
  );

type Dispatch = "start-story" | "start-attempt" | "start-gate" | "find-blame" | "fix-lint" | "deliver";

/** The least that leads to each of these steps, and past it. */
const WAYS =
  /^(?:prepared|ready|checks pass|checks fail|ci pass|ci fail lint|blame culprit|sent back|fixed|delivered)$/;

describe("a step that always ends the engine", () => {
  for (const killer of ["start-story", "start-attempt", "start-gate", "find-blame", "fix-lint", "deliver"] as const)
    test(`${killer}: every way ends, with the question wherever the step is reached`, { timeout: 600_000 }, () => {
      const isKiller = (command: Command): boolean => command.type === (killer satisfies Dispatch);
      const found = explore(begun(POLICY), POLICY, {
        skip: (name, command) =>
          isKiller(command)
            ? name !== ENGINE_DIED
            : name === ENGINE_DIED || ("story" in command && isRun(command) && !WAYS.test(name)),
      });
      expect(found.endings["engine-died"]).toBeGreaterThan(0);
      expect(found.longestPath).toBeLessThanOrEqual(stepsBound(POLICY));
    });

  test("each answer that is offered leads on, and the count starts again", () => {
    for (const killer of ["start-story", "start-attempt", "start-gate", "deliver"] as const) {
      const asked = untilQuestion(begun(POLICY), killer);
      const { escalation } = lookup(asked.stories, storyId("a"), byText)!;
      expect(escalation).toMatchObject({ kind: "manual", reason: { type: "engine-died", times: ENGINE_DEATHS } });
      for (const { verb } of escalation!.options) {
        const after = evolve(asked, recordedEvent(1, "a", answer(verb)));
        const state = lookup(after.stories, storyId("a"), byText)!;
        expect(state.counters.engineDeaths, `${killer} ${verb}`).toBeUndefined();
        const [next] = decide(after, POLICY, 1);
        if (verb === "abandon") expect(state.ending).toMatchObject({ how: "abandoned" });
        else expect(next?.type, `${killer} ${verb}`).not.toBe("raise-escalation");
      }
    }
  });
});

test("stories that ran beside the one at fault end as if nothing had happened", { timeout: 600_000 }, async () => {
  let asked = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed++)
    for (const what of ["agent", "checks"] as const) {
      const quiet = outcomeOf((await simulate(seed, false, new Set())).state);
      const guilty = storyId("c");
      const isGuilty = (step: string, of: StoryId): boolean => step === what && of === guilty;
      const killed = await simulate(seed, false, new Set(), { killsEngine: isGuilty });
      const { [guilty]: own, ...others } = outcomeOf(await checkJournal(killed.disk));
      const { [guilty]: undisturbed, ...expected } = quiet;
      expect(others, `seed ${seed}, ${what}`).toEqual(expected);
      if (killed.lives === 1) expect(own, `seed ${seed}, ${what}`).toEqual(undisturbed);
      else {
        asked++;
        expect(killed.lives, `seed ${seed}, ${what}`).toBe(ENGINE_DEATHS + 1);
        expect(own, `seed ${seed}, ${what}`).toMatchObject({ asks: "engine-died" });
      }
    }
  expect(asked).toBeGreaterThan(SEEDS / 2);
});

test("a machine that is restarted again and again is not held against any story", { timeout: 600_000 }, async () => {
  let lives = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const quiet = await simulate(seed, false, new Set());
    // Close together, so that the same step is hit several times.
    const from = Math.floor(chance(seed, "reboot") * quiet.calls);
    const kills = new Set(Array.from({ length: 12 }, (_, n) => from + 6 * n));
    const killed = await simulate(seed, false, kills, { isReboot: true });
    lives += killed.lives;
    expect(outcomeOf(await checkJournal(killed.disk)), `seed ${seed}`).toEqual(outcomeOf(quiet.state));
  }
  expect(lives).toBeGreaterThan(SEEDS * 4);
});

const isRun = ({ type }: Command): boolean =>
  type === "start-story" ||
  type === "start-attempt" ||
  type === "start-gate" ||
  type === "find-blame" ||
  type === "fix-lint" ||
  type === "deliver";

/** Everything goes well but the one kind of step, which ends the engine each time. */
function untilQuestion(start: RunState, killer: Dispatch): RunState {
  let run = start;
  for (let turns = 0; turns < 100; turns++) {
    const [command] = decide(run, POLICY, 1);
    if (command === undefined) break;
    const state = command.story === null ? null : lookup(run.stories, command.story, byText)!;
    const ways = outcomesOf(command, state);
    const way = command.type === killer ? ways.find(({ name }) => name === ENGINE_DIED)! : ways[0]!;
    run = fold(
      way.events.map((event) => recordedEvent(1, command.story, event)),
      run,
    );
  }
  for (const [, { counters }] of entries(run.stories)) expect(counters.engineDeaths?.times).toBe(ENGINE_DEATHS);
  return run;
}
