import type { GateName, Judgement } from "../core/gates/gate.ts";
import type { GateOutline, StoryOutline } from "../core/stories/run-state.ts";
import type { Policy } from "../core/events/policy.ts";
import type { StoryState } from "../core/stories/story-state.ts";

/**
 * An outline as it is stored: a row of values, because thousands are read at once and names would be most of the text.
 * What few stories have comes last.
 */
type Row = readonly [
  id: StoryOutline["story"]["id"],
  title: string,
  shelf: StoryOutline["story"]["shelf"],
  dependsOn: StoryOutline["story"]["dependsOn"] | 0,
  policy: number | null,
  phase: StoryOutline["phase"],
  attempts: number,
  counted: number,
  /** As text: the gates of most stories are equal, and a text that was parsed once is not parsed again. */
  gates: string,
  spent: readonly [costUsd: number, tokens: number, timeMs: number, costUnknown: 0 | 1],
  special: Special | 0,
];

type Special = Pick<
  StoryOutline,
  "running" | "waivers" | "wait" | "escalation" | "deferred" | "held" | "ending" | "raised"
>;

const NOTHING_SPECIAL: Special = {
  running: null,
  waivers: [],
  wait: null,
  escalation: null,
  held: false,
  ending: null,
  raised: {},
};
const NOTHING_TEXT = JSON.stringify(NOTHING_SPECIAL);

export function outlineText(state: Omit<StoryState, "policy">, policy: number | null): string {
  const { story, phase, counters, spent } = state;
  const { running, waivers, wait, escalation, deferred, held, ending, raised } = state;
  const put = deferred === undefined ? {} : { deferred };
  const special: Special = { running, waivers, wait, escalation, held, ending, raised, ...put };
  const row: Row = [
    story.id,
    story.title,
    story.shelf,
    story.dependsOn.length === 0 ? 0 : story.dependsOn,
    policy,
    phase,
    state.attempts.length,
    counters.attempts,
    JSON.stringify(gatesOf(state)),
    [spent.costUsd, spent.tokens, spent.timeMs, spent.costUnknown ? 1 : 0],
    JSON.stringify(special) === NOTHING_TEXT ? 0 : special,
  ];
  return JSON.stringify(row);
}

function gatesOf({ gates }: Pick<StoryState, "gates">): StoryOutline["gates"] {
  const outlines: { [G in GateName]?: GateOutline } = {};
  for (const [gate, { fresh, last }] of Object.entries(gates) as [
    GateName,
    NonNullable<StoryState["gates"]["checks"]>,
  ][])
    outlines[gate] = {
      fresh,
      last: last === null ? null : outlineOf(last),
    };
  return outlines;
}

function outlineOf({ result, blocking, notes }: Judgement): NonNullable<GateOutline["last"]> {
  return { result, blocking: { length: blocking.length }, ...(notes === undefined ? {} : { notes }) };
}

export function outlinesFrom(texts: readonly string[], policies: readonly Policy[]): StoryOutline[] {
  const known = new Map<string, StoryOutline["gates"]>();
  const gatesFrom = (text: string): StoryOutline["gates"] => {
    const gates = known.get(text) ?? (JSON.parse(text) as StoryOutline["gates"]);
    known.set(text, gates);
    return gates;
  };
  // Parsed as one text: thousands of separate parses would cost more than the reading itself.
  return (JSON.parse(`[${texts.join(",")}]`) as Row[]).map((row) => {
    const [
      id,
      title,
      shelf,
      dependsOn,
      policy,
      phase,
      attempts,
      attemptsCounted,
      gates,
      [costUsd, tokens, timeMs, unknown],
    ] = row;
    return {
      story: { id, title, shelf, dependsOn: dependsOn === 0 ? [] : dependsOn },
      policy: policy === null ? null : policies[policy]!,
      phase,
      attempts: { length: attempts },
      counters: { attempts: attemptsCounted },
      gates: gatesFrom(gates),
      spent: { costUsd, tokens, timeMs, costUnknown: unknown === 1 },
      ...(row[10] === 0 ? NOTHING_SPECIAL : row[10]),
    };
  });
}
