import { countText } from "../../stdx/plain-text.ts";
import type { AgentSession, RoleName } from "../../core/events/ids.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { Agent, AgentResult, RoleAgent, RoleRegistry } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { GateControl, GateRequest } from "../../ports/gate.ts";
import type { ExperimentRunner } from "../../ports/experiment-runner.ts";
import { readAgentAnswer } from "../../parse/agent/agent-answer.ts";
import { charactersLeftOut, fenceText, groupDigits } from "../../write/untrusted-text.ts";
import { DIFF_CHARS } from "../../write/prompts/prompt-parts.ts";
import { writeClarificationPrompt } from "../../write/prompts/signal-forms.ts";
import { type ReviewerReply, isGone, retryAtOf, mergeReplies, troubleWith, noReply } from "./reviewer-reply.ts";
import { type ReviewerFolder, openReviewerFolder } from "./reviewer-checkout.ts";

/** What is needed to ask reviewers. */
export interface ReviewerSettings {
  readonly roleRegistry: RoleRegistry;
  readonly evidence: Evidence;
  readonly clock: Clock;
  /** Returns an unguessable word for the fences of one conversation. */
  nonce(): string;
  /** Provides a clean checkout for each reviewer; default: reviewers use the author's folder. */
  readonly checkouts?: ExperimentRunner | null;
}

export interface ReviewRun {
  readonly request: GateRequest;
  readonly control: GateControl;
  /** How often each role was asked in this judgement. */
  readonly asks: Map<RoleName, number>;
}

export interface ReviewQuestion {
  readonly wanted: RoleName;
  /** The original role, if another role is asked in its place from the start. */
  readonly part?: RoleName;
  readonly speaksAs: "critic" | "auditor";
  /** Whether the reviewer may resume its conversation about this story. */
  readonly goesOn: boolean;
  readonly outputSchema: object | null;
  /** The whole work as shown in the prompt, which cuts long text. */
  readonly shows?: string;
  write(rolePrompt: string, nonce: string, reader: Pick<Agent, "seesPromptAlone">): string;
  /** Reads an answer of a special form; `null` if it has the form of all reviewers. */
  read?(result: AgentResult, nonce: string): Reading | null;
  /** Writes the question that is asked again for an answer of that form. */
  clarify?(problems: readonly string[], nonce: string): string;
  /** Whether a FAIL says what to do, besides the issues it lists. */
  hasMore?(replies: readonly string[]): boolean;
  /** Returns what a readable answer still leaves out, given all replies of the conversation. Asked for once. */
  leftOut?(reading: Reading, replies: readonly string[]): readonly string[];
  /**
   * Completes an answer that still leaves something out after it was asked for; without this function, it does not
   * count.
   */
  settled?(reading: Reading, replies: readonly string[]): Reading;
}

/** Asks the role's agent, or its fallback, until there is a readable answer or no further attempt makes sense. */
export async function askReviewer(
  reviewing: ReviewerSettings,
  judging: ReviewRun,
  question: ReviewQuestion,
): Promise<ReviewerReply> {
  const { fallback } = judging.request.roles;
  let gone: ReviewerReply | null = null;
  for (const role of inTurn(question.wanted, fallback)) {
    const player = await reviewing.roleRegistry.agentFor(role, question.part ?? question.wanted);
    if (player === null) continue;
    const { reply, isMissing } = tooLargeFor(player.agent, question)
      ? { reply: noReply(role, tooLargeWords(role, question)), isMissing: true }
      : await converse(reviewing, judging, question, { role, player });
    if (!isMissing) return gone === null ? reply : mergeReplies(gone, reply);
    gone = gone === null ? reply : mergeReplies(gone, reply);
  }
  return (
    gone ??
    noReply(
      question.wanted,
      `no agent plays ${question.wanted} — say who does: agents: { ${question.wanted}: { use: command, command: … } }`,
    )
  );
}

/** Whether the work exceeds the prompt of an agent that sees only the prompt: it would pass code that it never saw. */
const tooLargeFor = ({ seesPromptAlone = false }: Agent, { shows = "" }: ReviewQuestion): boolean =>
  seesPromptAlone && charactersLeftOut(shows, DIFF_CHARS) > 0;

const tooLargeWords = (role: RoleName, { shows = "" }: ReviewQuestion): string =>
  `${role} sees nothing but its prompt, and the work has ${groupDigits(shows.length)} characters of at most ` +
  `${groupDigits(DIFF_CHARS)} — give the role, or its fallback, to an agent that can look for itself`;

/** Yields the role, then its fallback, then that role's fallback, and so on. */
export function* inTurn(role: RoleName, fallback: Readonly<Record<string, RoleName>>): Generator<RoleName> {
  const seen = new Set<RoleName>();
  for (let now: RoleName | undefined = role; now !== undefined && !seen.has(now);) {
    seen.add(now);
    yield now;
    now = Object.hasOwn(fallback, now) ? fallback[now] : undefined;
  }
}

interface CastRole {
  readonly role: RoleName;
  readonly player: RoleAgent;
}

interface Conversation {
  readonly reply: ReviewerReply;
  readonly isMissing: boolean;
}

async function converse(
  reviewing: ReviewerSettings,
  judging: ReviewRun,
  question: ReviewQuestion,
  cast: CastRole,
): Promise<Conversation> {
  const { request, control } = judging;
  const { role, player } = cast;
  // An author's conversation must not be used to review its own work.
  const isAuthor = Object.values(request.roles.phase).includes(role);
  const goesOn = question.goesOn && !isAuthor;
  const folder = await openReviewerFolder(reviewing.checkouts ?? null, player.agent, request, {
    signal: control.signal,
    ...(goesOn ? { name: `${request.path}\n${request.story.id}\n${role}` } : {}),
  });
  try {
    return await converseIn(folder, reviewing, judging, { ...question, goesOn }, cast);
  } finally {
    await folder.close();
  }
}

async function converseIn(
  folder: ReviewerFolder,
  reviewing: ReviewerSettings,
  judging: ReviewRun,
  question: ReviewQuestion,
  cast: CastRole,
): Promise<Conversation> {
  const { request, control } = judging;
  const { role, player } = cast;
  const nonce = reviewing.nonce();
  const first = question.write(player.prompt, nonce, player.agent);
  const known = question.goesOn ? request.sessions[role] : undefined;
  let talk = { prompt: first, session: known?.agent === player.agent.name ? known : null };
  let reply = noReply(role, "");
  const left = { clarifications: request.clarifications, particulars: 1, fillings: 1 };
  for (;;) {
    const result = folder.replyOf(await askPlayer(folder, judging, cast, question, talk));
    const words = wordsOf(result);
    const title = `${role}, asked ${countText(reply.asked + 1, "time")}`;
    const kept = words === "" ? [] : [await reviewing.evidence.keep(`${title}:\n\n${words}\n`)];
    const replies = [...reply.replies, words];
    reply = mergeReplies(reply, {
      ...noReply(role, ""),
      words,
      replies,
      asked: 1,
      session: result.session,
      evidence: kept,
      costUsd: result.costUsd,
      tokens: result.tokens,
      retryAt: retryAtOf(result, reviewing.clock.now()),
    });
    const trouble = control.signal.aborted ? `${role} was stopped before it answered` : troubleWith(role, result);
    if (trouble !== null)
      return { reply: { ...reply, reading: null, trouble }, isMissing: reply.asked === 1 && isGone(result) };
    const reading =
      question.read?.(result, nonce) ??
      readAgentAnswer(result, { id: request.story.id, role: question.speaksAs, nonce });
    const doubt = doubtAbout(reading, question, replies);
    if (doubt === null) return { reply: { ...reply, reading }, isMissing: false };
    if (left[doubt.bound] <= 0) return { reply: concludeReply(reply, reading, doubt, question), isMissing: false };
    left[doubt.bound]--;
    const again = askAgain(request, question, doubt, request.clarifications - left.clarifications, nonce);
    // A client without conversations gets the earlier question and its answer again.
    const prompt =
      result.session === null
        ? [
            first,
            "## What You Answered",
            fenceText(words, nonce, { label: "your answer", maxChars: SHOWN }),
            again,
          ].join("\n\n")
        : again;
    talk = { prompt, session: result.session };
  }
}

const SHOWN = 20_000;

function askAgain(
  { story, clarifications }: GateRequest,
  { speaksAs, clarify }: ReviewQuestion,
  { why, problems }: ReplyDoubt,
  ask: number,
  nonce: string,
): string {
  if (clarify !== undefined) return clarify(problems, nonce);
  return writeClarificationPrompt(
    { storyId: story.id, role: speaksAs, why, problems, ask, asks: clarifications },
    { nonce },
  );
}

interface ReplyDoubt {
  readonly why: "unreadable" | "no-particulars" | "incomplete";
  readonly bound: "clarifications" | "particulars" | "fillings";
  readonly problems: readonly string[];
}

/** Returns why an answer does not count yet. */
function doubtAbout(reading: Reading, question: ReviewQuestion, replies: readonly string[]): ReplyDoubt | null {
  if (reading.result === "unknown") return { why: "unreadable", bound: "clarifications", problems: reading.problems };
  const isBare = reading.findings.length === 0 && reading.requiredFixes.length === 0;
  if (reading.result === "fail" && isBare && question.hasMore?.(replies) !== true)
    return { why: "no-particulars", bound: "particulars", problems: reading.problems };
  const problems = question.leftOut?.(reading, replies) ?? [];
  return problems.length === 0 ? null : { why: "incomplete", bound: "fillings", problems };
}

/**
 * Concludes a reply that is still incomplete after all repeated questions. A FAIL without details stands, and so does
 * an answer that the question can complete.
 */
function concludeReply(
  reply: ReviewerReply,
  reading: Reading,
  { why, problems }: ReplyDoubt,
  { settled }: ReviewQuestion,
): ReviewerReply {
  if (why === "no-particulars") return { ...reply, reading, isBestEffort: true };
  if (why === "incomplete" && settled !== undefined) return { ...reply, reading: settled(reading, reply.replies) };
  const what = why === "unreadable" ? "gave no answer that can be read" : "left out what its verdict needs";
  return {
    ...reply,
    reading: null,
    trouble: `${reply.role} ${what}, asked ${countText(reply.asked, "time")}: ${problems.join(" ")}`,
  };
}

async function askPlayer(
  folder: ReviewerFolder,
  { request, control, asks }: ReviewRun,
  { role, player }: CastRole,
  { outputSchema }: ReviewQuestion,
  { prompt, session }: { readonly prompt: string; readonly session: AgentSession | null },
): Promise<AgentResult> {
  const turn = (request.asked[role] ?? 0) + (asks.get(role) ?? 0);
  const meter = control.meter?.() ?? null;
  const result = await player.agent.run(
    {
      prompt,
      cwd: folder.path,
      access: "read",
      session,
      outputSchema,
      model: player.model,
      timeoutMs: request.timeoutMs,
      env: player.env,
      key: request.key,
      turn,
      report: { story: request.story.id, kind: "verdict" },
      ...(meter === null || meter.maxCostUsd === null ? {} : { maxCostUsd: meter.maxCostUsd }),
    },
    {
      signal: control.signal,
      onEvent(event) {
        if (event.type === "output") control.onOutput(folder.lineOf(event.line));
        if (event.type === "usage") meter?.onUse(event);
      },
    },
  );
  asks.set(role, (asks.get(role) ?? 0) + 1);
  return result;
}

/** Returns everything that the agent wrote, for the evidence. */
function wordsOf({ output, text }: AgentResult): string {
  const data = output === null || output === undefined ? "" : JSON.stringify(output, null, 2);
  return [text.trimEnd(), data].filter((part) => part !== "").join("\n\n");
}
