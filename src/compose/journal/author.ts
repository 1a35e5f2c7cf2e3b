import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { authorityRefusal, type EventAuthor } from "../../core/events/authority.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { isRecord } from "../../stdx/assert.ts";
import { ancestry, bootId, controlGroups, engineMarks, type Ancestor } from "../../adapters/process/ancestry.ts";
import { COOKIE_VARIABLE, cookieValue, killLeftovers } from "../../adapters/process/leftovers.ts";
import { supervisedCookies } from "../../adapters/process/supervised-agents.ts";
import { journalAnchors } from "./journal-anchors.ts";
import { stateFolder } from "../state-folder.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** The engine that works in a checkout, or the last one that did. */
export interface EngineRecord {
  readonly pid: number;
  readonly startedAt: number;
  readonly boot: string;
  readonly controlGroups: string | null;
  /**
   * The marks of engines above the one that began this journal. A test suite that a check runs may begin a journal of
   * its own and answer there: what is above both is no reason to refuse.
   */
  readonly above: readonly string[];
}

/** Throws unless the speaker may write the events. Every event that a person can cause goes through here. */
export function assertAuthority(speaker: EventAuthor, events: readonly Event[]): void {
  const refusal = authorityRefusal(speaker, events);
  if (refusal !== null) throw new RemandError("not-a-person", refusal.message, refusal.hint);
}

/** Who this process speaks for in a checkout. Ask early: a process that loses its parent loses its history. */
export async function speakerIn(root: string): Promise<EventAuthor> {
  const line = await ancestry();
  return speakerOf(line, engineMarks(line), { boot: bootId(), controlGroups: controlGroups() }, await recordIn(root));
}

/** The rule of `speakerIn`, from what is known of the machine. */
export function speakerOf(
  line: readonly Ancestor[],
  marks: readonly string[],
  here: Pick<EngineRecord, "boot" | "controlGroups">,
  engine: EngineRecord | null,
): EventAuthor {
  const [self] = line;
  const isEngine = ({ pid, startedAt }: Ancestor): boolean =>
    engine !== null && here.boot === engine.boot && pid === engine.pid && startedAt === engine.startedAt;
  const above = line.slice(1).find(isEngine);
  if (above !== undefined) return { type: "agent", why: `process ${above.pid} above it is the engine` };
  const [mark] = marks.filter((each) => !(engine?.above ?? []).includes(each));
  if (mark !== undefined) return { type: "agent", why: `it, or a process above it, carries the mark ${mark}` };
  if (self === undefined || self.hasTerminal || engine === null || engine.boot !== here.boot) return PERSON;
  const origin = originOf(line);
  const isOutsider = engine.controlGroups !== here.controlGroups;
  if (origin === null || origin.startedAt <= engine.startedAt || isOutsider) return PERSON;
  return {
    type: "claim",
    why: `it has no terminal, and process ${origin.pid} above it lost its parent after the engine (${engine.pid}) started`,
  };
}

const PERSON: EventAuthor = { type: "person" };

/**
 * The process of the line that the system adopted: its parent is the first process, or a user's systemd. Nothing else
 * is left of how an orphan came to be. `null`: the line comes from outside of this container.
 */
function originOf(line: readonly Ancestor[]): Ancestor | null {
  const adopters = new Set(line.filter(({ pid, name }) => pid === 1 || name === "systemd").map(({ pid }) => pid));
  return line.find(({ pid, parent }) => pid !== 1 && (parent === 1 || adopters.has(parent))) ?? null;
}

/** Whom an engine speaks for, and the environment of what it starts. */
export interface Engine {
  readonly speaker: EventAuthor;
  readonly env: EnvVariables;
}

/**
 * Takes the role of the engine in a checkout whose journal this process has just locked: refuses a process that an
 * engine started, ends what an engine before left, and gives the environment that marks whatever is started from now on.
 */
export async function becomeEngine(root: string, env: EnvVariables): Promise<Engine> {
  const line = await ancestry();
  const marks = engineMarks(line);
  const known = await recordIn(root);
  const here = { boot: bootId(), controlGroups: controlGroups() };
  // A journal that is gone was not begun here and now: the clone remembers it.
  const isBegun = existsSync(stateFolder(root).journal) || (await (await journalAnchors(root)).read()) !== null;
  const above = isBegun ? (known?.above ?? []) : marks;
  const speaker = speakerOf(line, marks, here, { ...(known ?? NO_ENGINE), above });
  assertAuthority(speaker, []);
  const [self] = line;
  await writeRecord(root, { pid: process.pid, startedAt: self?.startedAt ?? 0, ...here, above });
  // No other engine works here, so whatever still carries the cookie was left by one that is gone.
  const cookie = `remand-${sha256(root).slice(0, 24)}`;
  // Agents under a supervisor go on: recovery decides about them, and it needs the journal.
  await killLeftovers(cookie, LEFTOVER_MS, await supervisedCookies(stateFolder(root).runs));
  return { speaker, env: { ...env, [COOKIE_VARIABLE]: cookieValue(env[COOKIE_VARIABLE], cookie) } };
}

const LEFTOVER_MS = 500;

const NO_ENGINE: EngineRecord = { pid: 0, startedAt: 0, boot: "", controlGroups: null, above: [] };

const fileIn = (root: string): string => join(stateFolder(root).path, "engine.json");

async function writeRecord(root: string, record: EngineRecord): Promise<void> {
  const file = fileIn(root);
  await mkdir(stateFolder(root).path, { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify({ schema: "remand.engine/1", ...record })}\n`);
  await rename(`${file}.new`, file);
}

/** `null` where no engine has noted itself, or the note cannot be read: then the marks alone tell. */
async function recordIn(root: string): Promise<EngineRecord | null> {
  const text = await readFile(fileIn(root), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value["pid"] !== "number" || typeof value["startedAt"] !== "number") return null;
    const { pid, startedAt, boot, controlGroups: groups, above } = value;
    return {
      pid,
      startedAt,
      boot: String(boot),
      controlGroups: typeof groups === "string" ? groups : null,
      above: Array.isArray(above) ? above.map(String) : [],
    };
  } catch {
    return null;
  }
}
