import type { AttemptSummary } from "../domain/attempt.ts";
import type { StartAttempt } from "../domain/command.ts";
import type { RoleName } from "../domain/ids.ts";
import type { Phase } from "../domain/phase.ts";
import type { Policy } from "../domain/policy.ts";
import type { StoryState } from "../domain/story-state.ts";

/**
 * What is different about the next attempt of a role whose work keeps failing. Only work that was judged and found
 * wanting counts: a crash or a rate limit says nothing about the model, nor about what was talked of.
 */
export function reinforced(
  { attempts, sessions }: Pick<StoryState, "attempts" | "sessions">,
  { roles }: Pick<Policy, "roles">,
  role: RoleName,
  phase: Phase,
): Pick<StartAttempt, "stronger" | "fresh"> {
  const rule = roles.reinforcement?.find((each) => each.role === role);
  if (rule === undefined) return {};
  const own = attempts.filter((attempt) => attempt.role === role);
  const failures = failed(own.filter((attempt) => attempt.phase === phase));
  const sinceFresh = failed(
    own.slice(
      Math.max(
        0,
        own.findLastIndex(({ fresh }) => fresh === true),
      ),
    ),
  );
  const { stronger, freshAfter } = rule;
  const isTired = freshAfter !== undefined && sinceFresh >= freshAfter && sessions[role] !== undefined;
  return {
    ...(stronger === undefined || failures < stronger.after ? {} : { stronger: { model: stronger.model, failures } }),
    ...(isTired ? { fresh: { failures: sinceFresh } } : {}),
  };
}

const failed = (attempts: readonly AttemptSummary[]): number =>
  attempts.filter((attempt) => attempt.failed !== "").length;
