import { EVERY_FAILURE, failureKinds, baseFailuresOf } from "../../core/gates/base-failures.ts";
import { countText, plural } from "../../stdx/plain-text.ts";
import { type Judgement, gatesThat } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { shortLine } from "../text/words.ts";
import type { AttemptStarted } from "../../core/events/event.ts";

/** What fails before the work begins, and what becomes of it: a headline, and the names. `null` where nothing does. */
export function baseWords(state: StoryState): { readonly text: string; readonly names: readonly string[] } | null {
  const base = baseFailuresOf(state);
  const kindOf = failureKinds(base);
  const failing = base.failing ?? [];
  const names = [...new Set([...base.targets, ...failing, ...base.flaky])];
  if (names.length === 0) return null;
  const known = failing.filter((name) => kindOf(name) === "known").length;
  const unrelated = failing.filter((name) => kindOf(name) === "unrelated").length;
  const parts = [
    ...(base.targets.length === 0 ? [] : [targetWords(state, base.targets.length)]),
    ...(known === 0 ? [] : [countText(known, "known failure")]),
    ...(unrelated === 0
      ? []
      : [`${countText(unrelated, "failure")} at the start that ${plural(unrelated, "is", "are")} not a target`]),
    ...(base.flaky.length === 0 ? [] : [`${countText(base.flaky.length, "flaky test")} at the start, quarantined`]),
  ];
  return { text: parts.join("; "), names: showNames(names, (name) => `${kindOf(name)}: ${shortLine(name, 160)}`) };
}

function targetWords({ story }: StoryState, count: number): string {
  const fail = `${countText(count, "test")} ${plural(count, "fails", "fail")} at the start`;
  const must = count === 1 ? "it must pass" : "all must pass";
  return story.target?.includes(EVERY_FAILURE) === true && story.kind === "loop"
    ? `${fail}, ${must}; exclude with --known <glob>`
    : `${fail} and ${plural(count, "is", "are")} the target, ${must}`;
}

/** The tests that must pass and are not known to, where the reasons against the work name none of them. */
export function unshownTargets(state: StoryState, judgement: Judgement, reasons: readonly string[]): readonly string[] {
  const { runsTests, refusesByRule } = GATE_REGISTRY[judgement.gate];
  if (!runsTests && !refusesByRule) return [];
  if (RUN_TESTS.some((gate) => state.gates[gate]?.fresh === true && state.gates[gate]?.last?.result === "pass"))
    return [];
  const passing = new Set(judgement.identities?.passing);
  const open = baseFailuresOf(state).targets.filter((name) => !passing.has(name));
  const failing = new Set(judgement.identities?.failing);
  const isNamed = (name: string): boolean => failing.has(name) || reasons.some((reason) => reason.includes(name));
  if (open.length === 0 || open.some(isNamed)) return [];
  const more = open.length === 1 ? "" : `, and ${open.length - 1} more`;
  return [`not shown to pass: ${shortLine(open[0]!, 120)}${more}`];
}

const RUN_TESTS = gatesThat(({ runsTests }) => runsTests);

/** Accepted, and what the gates passed it in spite of. */
export const acceptedText = (notes: readonly string[] = [], how = ""): string =>
  [how === "" ? "accepted" : `accepted: ${how}`, ...notes.map((note) => shortLine(note, 160))].join("; ");

const MOST_NAMES = 10;

function showNames(names: readonly string[], text: (name: string) => string): readonly string[] {
  const more = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES).map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** The model that an attempt was given, where one was named. */
export function modelWords({ model }: AttemptStarted): string {
  return model === undefined ? "" : ` (${shortLine(model, 60)})`;
}

/** What was different about it, and why: another model, another conversation. */
export function unusualWords({ stronger, fresh }: AttemptStarted): string {
  return [
    ...(stronger === undefined ? [] : [`, the stronger model after ${countText(stronger.failures, "failure")}`]),
    ...(fresh === undefined
      ? []
      : [`, a new conversation after ${countText(fresh.failures, "failure")} in the last one`]),
  ].join("");
}
