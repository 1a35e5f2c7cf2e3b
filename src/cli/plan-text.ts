import type { Config, CommandConfig } from "../config/config.ts";
import { countText } from "../stdx/plain-text.ts";
import type { Policy, SpendLimits } from "../core/events/policy.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Story } from "../core/stories/story.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { forecastLines, forecastOf } from "../views/board/ledger.ts";
import { statusOf } from "../views/story/story-status.ts";
import { durationText, moneyText, shortLine } from "../views/text/words.ts";
import { startOrder } from "../app/prepare-run.ts";

/** What a run would do, for people: the order, the phases with their gates, the limits. */
export function planText(config: Config, policy: Policy, stories: readonly Story[], run: RunState | null): string {
  const ordered = startOrder(stories);
  const width = Math.max(0, ...ordered.map(({ id }) => id.length));
  return [
    `preset ${policy.preset}, autonomy ${policy.autonomy}, ${countText(stories.length, "story", "stories")}`,
    "",
    "Stories, in the order they would begin:",
    ...ordered.map((story, i) => `  ${i + 1}. ${story.id.padEnd(width)}  p${story.priority}  ${standing(story, run)}`),
    "",
    "Each goes through:",
    ...policy.phases.flatMap(({ phase, gates }) => [
      `  ${phase} by ${policy.roles.phase[phase]}, judged by ${gates.join(", ")}`,
      ...gates.flatMap((gate) => {
        const commands = config.gates[gate].commands.map(commandText);
        return commands.length === 0 ? [] : [`    ${gate}: ${commands.join("; ")}`];
      }),
    ]),
    "",
    "Limits:",
    ...limitLines(policy),
    "",
    "Forecast:",
    ...forecastText(run, stories),
    "",
  ].join("\n");
}

function forecastText(run: RunState | null, stories: readonly Story[]): string[] {
  const lines =
    run === null
      ? []
      : forecastLines(
          forecastOf(
            run,
            stories.map(({ id }) => id),
          ),
        );
  return lines.length === 0
    ? ["  unknown: no agent has said yet what it costs here"]
    : lines.map((line) => `  ${line}`);
}

const commandText = (command: string | CommandConfig): string =>
  shortLine(typeof command === "string" ? command : command.run, 100);

function standing(story: Story, run: RunState | null): string {
  const state = run === null ? undefined : lookup(run.stories, story.id, byText);
  if (run !== null && state !== undefined && (state.policy !== null || state.ending !== null)) {
    const { status, why } = statusOf(run, state);
    return `${status}: ${shortLine(why, 80)}`;
  }
  if (story.shelf === "backlog") return "backlog: not started until you make it ready";
  if (story.shelf === "done") return "done, according to its file";
  return story.dependsOn.length === 0 ? "new" : `new, after ${story.dependsOn.join(", ")}`;
}

function limitLines({ limits, phases, concurrency }: Policy): string[] {
  const gates = [...new Set(phases.flatMap((plan) => plan.gates))];
  const failures = gates.map((gate) => {
    const limit = limits.failures[gate];
    return limit === null ? `${gate}: no limit of its own` : `${gate}: ${limit} (${countText(limit - 1, "rework")})`;
  });
  return [
    `  failures before a person is asked: ${failures.join(", ")}`,
    `  attempts for each story: ${limits.iterations}`,
    `  each story: ${spendText(limits.story)}`,
    `  the whole run: ${spendText(limits.run)}`,
    `  at once: ${countText(concurrency.developers, "developer")}, ${countText(concurrency.checks, "check")}, stories: ${concurrency.stories ?? "no limit"}`,
  ];
}

function spendText({ costUsd, tokens, timeMs }: SpendLimits): string {
  const parts = [
    ...(costUsd === null ? [] : [moneyText(costUsd)]),
    ...(tokens === null ? [] : [countText(tokens, "token")]),
    ...(timeMs === null ? [] : [durationText(timeMs)]),
  ];
  return parts.length === 0 ? "no limit on money, tokens or time" : parts.join(", ");
}
