import type { Judgement } from "../../domain/gate.ts";
import type { RoleName } from "../../domain/ids.ts";
import type { Judging } from "./ask-reviewer.ts";
import { sum, type Heard } from "./heard.ts";

type Spent = Pick<Judgement, "asked" | "sessions" | "evidence" | "costUsd" | "tokens" | "retryAt">;

/** What all conversations of one judgement come to: how often who was asked, what was said, what it cost. */
export function spentOn({ request, asks }: Judging, conversations: readonly Heard[]): Spent {
  const asked: Readonly<Record<RoleName, number>> = Object.fromEntries(asks);
  const costUsd = conversations.map((heard) => heard.costUsd).reduce(sum, 0);
  const tokens = conversations.map((heard) => heard.tokens).reduce(sum, 0);
  // An author's conversation is the author's; and where one role spoke for several, nobody's is gone on with.
  const isOwn = ({ role }: Heard): boolean =>
    !Object.values(request.roles.phase).includes(role) &&
    conversations.filter((other) => other.role === role).length === 1;
  const led = conversations.flatMap((heard) =>
    heard.session !== null && isOwn(heard) ? [[heard.role, heard.session]] : [],
  );
  const retryAt = conversations.flatMap((heard) => heard.retryAt ?? []);
  return {
    ...(retryAt.length === 0 ? {} : { retryAt: Math.max(...retryAt) }),
    ...(Object.keys(asked).length === 0 ? {} : { asked }),
    ...(led.length === 0 ? {} : { sessions: Object.fromEntries(led) as NonNullable<Spent["sessions"]> }),
    evidence: [...new Set(conversations.flatMap((heard) => heard.evidence))],
    ...(costUsd === null ? {} : { costUsd }),
    ...(tokens === null ? {} : { tokens }),
  };
}

export const NO_PARTICULARS =
  "The reviewer failed the work and, asked for particulars, named nothing that can be acted on. What it said is all there is: do what you can, and say what you did.";

/** In few words, what a reviewer that failed the work said of it. */
export function bestEffortWords({ reading, words }: Heard): string {
  const said = reading?.summary ?? words.split("\n").find((line) => /\w/.test(line) && !/^[A-Z_]+:/.test(line)) ?? "";
  return said.trim().slice(0, 400);
}
