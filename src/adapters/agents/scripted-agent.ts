import { counted } from "../../domain/counted.ts";
import type { Agent, AgentControl, AgentRequest, AgentResult } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { scriptedMs, type AgentScript } from "../../readers/agent-script.ts";
import type { ScriptedAttempt, ScriptPart } from "../../schemas/agent-script.ts";
import { matchesGlob } from "../../stdx/glob.ts";
import { exitError } from "./exit-code.ts";
import { failed, messageOf } from "./failed-result.ts";
import { applyEdits, hasEdits } from "./script-edits.ts";

export interface ScriptedAgentOptions {
  readonly name?: string;
  readonly script: AgentScript;
  /** The part it plays; a script may say something else for each. */
  readonly role: string;
  readonly clock: Clock;
}

/**
 * Does what a script says: the same every time, without a model. It ships, because a loop can be rehearsed and shown
 * with it. Which attempt of the first part that fits is played is the request's turn: the agent keeps no count of its
 * own, so whoever restarts it gets what was due.
 */
export function createScriptedAgent(options: ScriptedAgentOptions): Agent {
  const { script, role, clock } = options;
  const name = options.name ?? "scripted";
  return {
    name,
    async run(request, control) {
      const beganAt = clock.now();
      const story = storyOf(request.key);
      try {
        const part = script.parts.find((each) => fits(each, role, story));
        if (part === undefined) return wrong(`the script says nothing for the role ${role} in the story ${story}`);
        const attempt = part.attempts[request.turn] ?? (part.loop === "error" ? undefined : part.attempts.at(-1));
        const result =
          attempt === undefined
            ? wrong(`the script has ${counted(part.attempts.length, "attempt")}, and this is call ${request.turn + 1}`)
            : await played(attempt, { name, role, story, number: request.turn + 1 }, request, control, clock);
        return { ...result, durationMs: clock.now() - beganAt };
      } catch (error) {
        return { ...wrong(messageOf(error)), durationMs: clock.now() - beganAt };
      }
    },
  };
}

interface Scene {
  readonly name: string;
  readonly role: string;
  readonly story: string;
  /** Counts from 1. */
  readonly number: number;
}

async function played(
  attempt: ScriptedAttempt,
  scene: Scene,
  request: AgentRequest,
  { signal, onEvent }: AgentControl,
  clock: Clock,
): Promise<AgentResult> {
  const denied: string[] = [];
  const ends = (status: AgentResult["status"], text = "", error: AgentResult["error"] = null): AgentResult => ({
    status,
    session: null,
    text,
    output: status === "completed" ? (attempt.output ?? null) : null,
    tokens: attempt.tokens ?? null,
    costUsd: attempt.cost ?? null,
    denied,
    error,
    durationMs: 0,
  });
  const delayMs = scriptedMs(attempt.delay);
  const patienceMs = attempt.hang === true ? Infinity : delayMs;
  if (delayMs > 0) await clock.sleep(Math.min(delayMs, request.timeoutMs), signal);
  if (signal.aborted) return ends("cancelled");
  if (delayMs >= request.timeoutMs) return ends("timeout");

  if (request.access === "read" && hasEdits(attempt)) denied.push("edit: it may only look");
  else await applyEdits(request.cwd, attempt, (text) => filled(text, scene));
  if (patienceMs === Infinity) {
    await clock.sleep(request.timeoutMs - delayMs, signal);
    return ends(signal.aborted ? "cancelled" : "timeout");
  }
  const text = attempt.garbage === true ? GARBAGE : filled(attempt.say ?? "", scene);
  for (const line of text === "" ? [] : text.trimEnd().split("\n")) onEvent({ type: "output", line });
  if (attempt.crash === true)
    return ends("failed", text, { kind: "crash", message: `${scene.name} crashed, as its script says` });
  if (attempt.error !== undefined) {
    const retryAt = attempt.retryAfter === undefined ? {} : { retryAt: clock.now() + scriptedMs(attempt.retryAfter) };
    return ends("failed", text, {
      kind: attempt.error,
      message: `${scene.name} failed, as its script says: ${attempt.error}`,
      ...retryAt,
    });
  }
  const error = exitError(scene.name, attempt.exit ?? 0, text);
  return error === null ? ends("completed", text) : ends("failed", text, error);
}

/** The names that differ from call to call, for a script that serves many stories. */
function filled(text: string, { story, role, number }: Scene): string {
  return text.replaceAll("{story}", story).replaceAll("{role}", role).replaceAll("{attempt}", String(number));
}

function fits({ match }: ScriptPart, role: string, story: string): boolean {
  return (
    (match?.role === undefined || matchesGlob(role, match.role)) &&
    (match?.story === undefined || matchesGlob(story, match.story))
  );
}

/** A dispatch's key is the story and a number. */
function storyOf(key: string): string {
  const end = key.lastIndexOf(":");
  return end > 0 ? key.slice(0, end) : key;
}

function wrong(message: string): AgentResult {
  return failed({ kind: "bad-request", message, fix: "correct the script, then send the story back" }, 0);
}

/** Neither a signal nor a verdict, and with everything in it that confuses a reader: half a signal, half a JSON, colours, a null. */
const GARBAGE = '\u001b[31m%PDF-1.7\u0000 {"verdict": "pa\n  READY_FOR_REV\n``` \u001b]0;title\u0007 …';
