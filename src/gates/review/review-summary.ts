import { RemandError } from "../../core/events/error.ts";
import { type GateName, type Judgement, gatesThat } from "../../core/gates/gate.ts";
import type { RoleName } from "../../core/events/ids.ts";
import type { ContestedTest } from "../../core/gates/contested-test.ts";
import type { ShownContested } from "../../core/stories/prompt.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { ReviewRun } from "./ask-reviewer.ts";
import { type ReviewerReply, sum } from "./reviewer-reply.ts";

/** A judgement without the fields that are the same for all gates that ask agents. */
export type ReviewEnding = Omit<Judgement, "gate" | "tree" | "durationMs">;

/** Makes a gate that asks agents. If it was stopped or could not ask, the result is an error. */
export function askingGate(
  gate: GateName,
  { clock, judgedBy }: { readonly clock: Clock; readonly judgedBy: readonly string[] },
  judge: (judging: ReviewRun) => Promise<ReviewEnding>,
): Gate {
  return {
    name: gate,
    criteria: () => judgedBy,
    async run(request, control) {
      const beganAt = clock.now();
      const judging = { request, control, asks: new Map<RoleName, number>() };
      const end = (ending: ReviewEnding): Judgement => ({
        gate,
        tree: request.tree,
        durationMs: clock.now() - beganAt,
        ...ending,
      });
      if (control.signal.aborted) return end(reviewError(gate, "stopped before it began"));
      try {
        return end(await judge(judging));
      } catch (error) {
        if (!(error instanceof RemandError)) throw error;
        return end(reviewError(gate, `${error.message} — ${error.hint}`, spentOn(judging, [])));
      }
    },
  };
}

export const reviewError = (gate: GateName, why: string, more: Partial<ReviewEnding> = {}): ReviewEnding => ({
  result: "error",
  findings: [],
  blocking: [],
  evidence: [],
  ...more,
  summary: `${gate}: ${why}`,
});

type ReviewSpending = Pick<Judgement, "asked" | "sessions" | "evidence" | "costUsd" | "tokens" | "retryAt">;

/**
 * Returns the totals of all conversations of one judgement: how often each role was asked, the evidence, and the cost.
 */
export function spentOn({ request, asks }: ReviewRun, conversations: readonly ReviewerReply[]): ReviewSpending {
  const asked: Readonly<Record<RoleName, number>> = Object.fromEntries(asks);
  const costUsd = conversations.map((reply) => reply.costUsd).reduce(sum, 0);
  const tokens = conversations.map((reply) => reply.tokens).reduce(sum, 0);
  // An author's conversation is never reused, and if one role answered for several stages, none of its conversations is
  // resumed.
  const isOwn = ({ role }: ReviewerReply): boolean =>
    !Object.values(request.roles.phase).includes(role) &&
    conversations.filter((other) => other.role === role).length === 1;
  const led = conversations.flatMap((reply) =>
    reply.session !== null && isOwn(reply) ? [[reply.role, reply.session]] : [],
  );
  const retryAt = conversations.flatMap((reply) => reply.retryAt ?? []);
  return {
    ...(retryAt.length === 0 ? {} : { retryAt: Math.max(...retryAt) }),
    ...(Object.keys(asked).length === 0 ? {} : { asked }),
    ...(led.length === 0 ? {} : { sessions: Object.fromEntries(led) as NonNullable<ReviewSpending["sessions"]> }),
    evidence: [...new Set(conversations.flatMap((reply) => reply.evidence))],
    ...(costUsd === null ? {} : { costUsd }),
    ...(tokens === null ? {} : { tokens }),
  };
}

export const NO_PARTICULARS =
  "The reviewer failed the work and gave no actionable details, even when asked. Fix what its summary suggests, and report what you changed.";

/** Returns in a few words what a reviewer said that failed the work. */
export function bestEffortWords({ reading, words }: ReviewerReply): string {
  const said = reading?.summary ?? words.split("\n").find((line) => /\w/.test(line) && !/^[A-Z_]+:/.test(line)) ?? "";
  return said.trim().slice(0, 400);
}

/** Returns the judgements of gates that ran tests on exactly this tree. */
export const testRunsBeside = ({ beside }: Pick<GateRequest, "beside">): readonly Judgement[] =>
  RUN_TESTS.flatMap((gate) => beside[gate] ?? []);

const RUN_TESTS = gatesThat(({ runsTests }) => runsTests);

/** Returns the contested tests of gates that ran on exactly this tree, without duplicates. */
export function contestedIn(judgements: readonly (Judgement | null | undefined)[]): readonly ContestedTest[] {
  const all = judgements.flatMap((judgement) => judgement?.contested ?? []);
  return [...new Map(all.map((each) => [each.test, each])).values()];
}

/**
 * Adds how each contested test's file changed: in the work's whole diff, or since the version that was passed earlier.
 */
export async function shownContested(
  contested: readonly ContestedTest[],
  diff: string,
  workspace: Pick<Workspace, "diff">,
  { story, tree, seenTree }: Pick<GateRequest, "story" | "tree" | "seenTree">,
): Promise<readonly ShownContested[]> {
  if (contested.length === 0) return [];
  const isSince = seenTree !== undefined && contested.some(({ isOfStory }) => isOfStory);
  const since = partsOf(isSince ? await workspace.diff(story.id, seenTree, tree) : "");
  const whole = partsOf(diff);
  return contested.map((each) => {
    const { file, isOfStory } = each;
    const own = (isOfStory === true ? since : whole).find(
      ({ head }) => file !== undefined && (head.startsWith(`diff --git a/${file} b/`) || head.endsWith(` b/${file}`)),
    );
    return own === undefined ? each : { ...each, diff: own.part };
  });
}

/** Splits a diff by files. */
const partsOf = (diff: string): readonly { readonly part: string; readonly head: string }[] =>
  diff.split(/^(?=diff --git )/m).map((part) => ({ part, head: part.slice(0, part.indexOf("\n")) }));
