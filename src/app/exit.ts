import type { Escalation } from "../core/stories/escalation.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunOutline, StoryOutline } from "../core/stories/run-state.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { storiesOf } from "../views/run/run-summary.ts";
import { EXIT, type ExitCode } from "./command.ts";

/**
 * What the exit code says of the stories that were asked for (`null`: all of them). When several codes apply, the
 * first of this order wins: Remand failed, a budget stopped it, a person must act, work was rejected, still running.
 */
export function exitCodeOf(run: RunOutline, asked: readonly StoryId[] | null): ExitCode {
  const codes = new Set(storiesOf(run, asked).map((state) => codeOf(run, state, null)));
  if (asked === null && (run.unlisted?.failed ?? 0) > 0) codes.add(EXIT.rejected);
  return strongest(codes);
}

const PRECEDENCE: readonly ExitCode[] = [EXIT.failed, EXIT.budget, EXIT.person, EXIT.rejected, EXIT.running];

export function strongest(codes: ReadonlySet<ExitCode>): ExitCode {
  return PRECEDENCE.find((code) => codes.has(code)) ?? EXIT.ok;
}

function codeOf(run: RunOutline, state: StoryOutline, before: Set<StoryId> | null): ExitCode {
  const { ending, escalation, story } = state;
  if (ending !== null) return ending.how === "accepted" ? EXIT.ok : EXIT.rejected;
  if (escalation !== null) return askedBy(escalation);
  if (state.held || (state.policy === null && story.shelf === "backlog")) return EXIT.person;
  if (state.running !== null) return run.engine === "gone" ? EXIT.person : EXIT.running;
  // A story that waits for another one is as that one is: a person who must act there must act for this one too.
  const wait = state.wait?.type === "story" && state.wait.story !== null ? [state.wait.story] : [];
  const waitsFor = state.policy === null ? [...story.dependsOn, ...wait] : wait;
  if (waitsFor.length > 0) {
    const seen = (before ?? new Set()).add(story.id);
    const others = new Set(waitsFor.filter((id) => !seen.has(id)).map((id) => otherCode(run, id, seen)));
    if (strongest(others) !== EXIT.ok) return strongest(others);
  }
  if (run.escalation !== null) return askedBy(run.escalation);
  return run.halted === null ? EXIT.running : EXIT.person;
}

function otherCode(run: RunOutline, id: StoryId, seen: Set<StoryId>): ExitCode {
  const other = lookup(run.stories, id, byText);
  // A dependency that does not exist can never end: a person must say which story is meant.
  return other === undefined ? EXIT.person : codeOf(run, other, seen);
}

/** Money, tokens, time and actions have a code of their own: a script may raise them, where it cannot answer a question. */
function askedBy({ reason }: Escalation): ExitCode {
  if (reason.type !== "budget") return EXIT.person;
  return SPENDING.has(reason.budget.replace(/^run-/, "")) ? EXIT.budget : EXIT.person;
}

const SPENDING: ReadonlySet<string> = new Set(["cost", "tokens", "time", "actions"]);
