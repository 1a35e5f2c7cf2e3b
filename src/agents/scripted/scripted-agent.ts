import { lstat, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { countText } from "../../stdx/plain-text.ts";
import type { Agent, AgentControl, AgentRequest, AgentResult } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { type AgentScript, readAgentScript, scriptedMs } from "../../parse/agent/agent-script.ts";
import type { ScriptPart, ScriptedAttempt } from "../../core/schemas/agent-script.ts";
import { matchesGlob } from "../../stdx/glob.ts";
import { exitError, failedResult, messageOf } from "../client/client.ts";
import { RemandError } from "../../core/events/error.ts";
import { problemText } from "../../write/reports/problem-text.ts";
import { SIGNALS } from "../../core/stories/reading.ts";

export interface ScriptedAgentOptions {
  readonly name?: string;
  readonly script: AgentScript;
  /** The role it has; a script may differ by role. */
  readonly role: string;
  readonly clock: Clock;
}

/**
 * Does what a script says, deterministically and without a model. It is part of the product, so that a loop can be
 * rehearsed and demonstrated. The attempt to play is the request's turn: the agent keeps no count, so a restarted agent
 * plays the attempt that is due.
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
            ? wrong(
                `the script has ${countText(part.attempts.length, "attempt")}, and this is call ${request.turn + 1}`,
              )
            : await playAttempt(attempt, { name, role, story, number: request.turn + 1 }, request, control, clock);
        return { ...result, durationMs: clock.now() - beganAt };
      } catch (error) {
        return { ...wrong(messageOf(error)), durationMs: clock.now() - beganAt };
      }
    },
  };
}

interface ScriptPosition {
  readonly name: string;
  readonly role: string;
  readonly story: string;
  /** Counts from 1. */
  readonly number: number;
}

async function playAttempt(
  attempt: ScriptedAttempt,
  scene: ScriptPosition,
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
  else if (hasEdits(attempt)) await applyEdits(request.cwd, attempt, (text) => fillPlaceholders(text, scene));
  if (patienceMs === Infinity) {
    await clock.sleep(request.timeoutMs - delayMs, signal);
    return ends(signal.aborted ? "cancelled" : "timeout");
  }
  const said = attempt.garbage === true ? GARBAGE : fillPlaceholders(attempt.say ?? "", scene);
  const text = withPromptNonce(said, request.prompt);
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

/** Replaces the names that differ between calls, so that one script can serve many stories. */
function fillPlaceholders(text: string, { story, role, number }: ScriptPosition): string {
  return text.replaceAll("{story}", story).replaceAll("{role}", role).replaceAll("{attempt}", String(number));
}

function fits({ match }: ScriptPart, role: string, story: string): boolean {
  return (
    (match?.role === undefined || matchesGlob(role, match.role)) &&
    (match?.story === undefined || matchesGlob(story, match.story))
  );
}

/** Returns the story of a dispatch's key, which is the story and a number. */
function storyOf(key: string): string {
  const end = key.lastIndexOf(":");
  return end > 0 ? key.slice(0, end) : key;
}

function wrong(message: string): AgentResult {
  return failedResult({ kind: "bad-request", message, fix: "correct the script, then send the story back" }, 0);
}

/**
 * Neither a signal nor a verdict, with everything that could confuse a parser: half a signal, half a JSON, colors, a
 * null byte.
 */
const GARBAGE = '\u001b[31m%PDF-1.7\u0000 {"verdict": "pa\n  READY_FOR_REV\n``` \u001b]0;title\u0007 …';

function hasEdits({ edit, append, replace }: ScriptedAttempt): boolean {
  return edit !== undefined || append !== undefined || replace !== undefined;
}

/**
 * Changes files as the script says. All paths are checked and all new texts made before the first write, so that an
 * invalid script changes nothing. A call that was killed is played again over what it left, so edits that are already
 * there are not repeated: a replaced text, or an appended text at the end of a file.
 */
async function applyEdits(cwd: string, attempt: ScriptedAttempt, filled: (text: string) => string): Promise<void> {
  const root = await realpath(cwd);
  const texts = new Map<string, string | null>();
  const current = async (path: string): Promise<string | null> => {
    const place = await placeWithin(root, filled(path));
    const planned = texts.get(place);
    return planned === undefined ? textAt(place) : planned;
  };
  const plan = async (path: string, text: string | null): Promise<void> => {
    texts.set(await placeWithin(root, filled(path)), text);
  };
  for (const [path, text] of Object.entries(attempt.edit ?? {})) await plan(path, text);
  for (const { path, from, to } of replacements(attempt)) {
    const text = await current(path);
    if (text === null) throw new Error(`there is no ${filled(path)} in which to replace`);
    const isDone = !text.includes(from) && to !== "" && text.includes(to);
    if (!isDone) await plan(path, replacedOnce(text, from, to, filled(path)));
  }
  for (const [path, more] of Object.entries(attempt.append ?? {})) {
    const text = (await current(path)) ?? "";
    if (!text.endsWith(more)) await plan(path, text + more);
  }
  for (const [place, text] of texts) {
    if (text === null) await rm(place, { force: true });
    else {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, text);
    }
  }
}

function replacements({ replace }: ScriptedAttempt): readonly { path: string; from: string; to: string }[] {
  if (replace === undefined) return [];
  return Array.isArray(replace) ? replace : [replace];
}

function replacedOnce(text: string, from: string, to: string, path: string): string {
  const at = text.indexOf(from);
  if (at === -1) throw new Error(`${path} does not hold the text to replace: ${JSON.stringify(from.slice(0, 80))}`);
  if (text.includes(from, at + 1))
    throw new Error(`${path} holds the text to replace more than once: ${JSON.stringify(from.slice(0, 80))}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

/**
 * Returns the absolute path. Throws if it leads out of the worktree, even by a link: a script is trusted no more than
 * an agent.
 */
async function placeWithin(root: string, path: string): Promise<string> {
  const place = resolve(root, path);
  if (isAbsolute(path) || !isInside(root, place)) throw new Error(`the path ${path} leads out of the worktree`);
  if (relative(root, place).toLowerCase().split(sep).includes(".git")) throw new Error(`the path ${path} is git's own`);
  // The deepest existing folder decides where the rest will be.
  for (let at = place; at !== root; at = dirname(at)) {
    const kind = await kindOf(at);
    if (kind === "missing") continue;
    const real = await realpath(at).catch(() => null);
    if (real === null || !(real === root || isInside(root, real)))
      throw new Error(`the path ${path} leads out of the worktree by a link`);
    if (at === place && kind === "folder") throw new Error(`the path ${path} is a folder`);
    return join(real, relative(at, place));
  }
  return place;
}

const isInside = (root: string, place: string): boolean => place.startsWith(root.endsWith(sep) ? root : root + sep);

async function kindOf(path: string): Promise<"missing" | "folder" | "other"> {
  try {
    return (await lstat(path)).isDirectory() ? "folder" : "other";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    // ENOTDIR: a file is in place of a folder; the caller finds it one level up.
    if (code === "ENOENT" || code === "ENOTDIR") return "missing";
    throw error;
  }
}

async function textAt(place: string): Promise<string | null> {
  try {
    return await readFile(place, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Creates an agent that plays the script in a file. */
export async function scriptedFromFile(file: string, role: string, clock: Clock): Promise<Agent> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    const message = `${file} cannot be read: ${error.message}`;
    throw new RemandError("file-unreadable", message, "Check its permissions.", { cause: error });
  });
  if (text === null)
    throw new RemandError(
      "file-missing",
      `there is no script ${file}`,
      "Name the script's file in `agents.<role>.command`.",
    );
  const { script, problems } = readAgentScript(file, text);
  if (script === null)
    throw new RemandError(
      "config-invalid",
      problems.map((problem) => problemText(problem, { color: false })).join("\n"),
      "Fix the script.",
    );
  return createScriptedAgent({ name: role, script, role, clock });
}

/**
 * Adds the prompt's nonce to a script's text if the prompt asks for one: on the line after each signal, or at the end
 * of a verdict as data. A script cannot contain the nonce, because it is written before the prompt.
 */
export function withPromptNonce(text: string, prompt: string): string {
  const nonce = [...prompt.matchAll(/must be the nonce of this prompt: `([A-Za-z0-9]{8,64})`/g)].at(-1)?.[1];
  if (nonce === undefined) return text;
  const signed = text.replace(SIGNAL_LINE, (line) => `${line}\n${nonce}`);
  if (signed !== text) return signed;
  return /[}`]\s*$/.test(text) ? `${text.trimEnd()}\n${nonce}\n` : text;
}

const SIGNAL_LINE = new RegExp(`^(?:${SIGNALS.join("|")}):.*$`, "gm");
