import { existsSync } from "node:fs";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { authorityRefusal, type EarlierIdentities, type EventAuthor } from "../../core/events/authority.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Event } from "../../core/events/event.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { isRecord } from "../../stdx/assert.ts";
import {
  ancestry,
  bootId,
  controlGroups,
  engineMarks,
  holdsTerminal,
  isInUserNamespace,
  processNamespace,
  type Ancestor,
  untrustedTerminalReason,
  type EngineLife,
  type TerminalFacts,
} from "../../adapters/process/ancestry.ts";
import { withoutPersonal } from "../../adapters/process/environment.ts";
import { COOKIE_VARIABLE, cookieValue, killLeftovers } from "../../adapters/process/leftovers.ts";
import { removeAbandonedFolders } from "../../adapters/process/temp-folders.ts";
import { supervisedCookies } from "../../adapters/process/agent-processes.ts";
import { userStateFolder } from "../../adapters/git/repository.ts";
import {
  enginesOf,
  isRunning,
  NO_ENGINE,
  readEngineRecord,
  writeEngineRecord,
  type EngineRecord,
} from "./engine-record.ts";
import { journalAnchors } from "./journal-anchors.ts";
import { stateFolder } from "../state-folder.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** Throws unless the author may write the events. All events that a person can cause are checked here. */
export function assertAuthority(author: EventAuthor, events: readonly Event[], earlier: EarlierIdentities = {}): void {
  const refusal = authorityRefusal(author, events, earlier);
  if (refusal !== null) throw new RemandError("not-a-person", refusal.message, refusal.hint);
}

/** What is known about the machine and its engines when a process speaks. */
export interface SpeakerFacts extends Omit<TerminalFacts, "engines"> {
  /** Marks in the environment which show that an engine started the process or one of its ancestors. */
  readonly marks: readonly string[];
  readonly boot: string;
  readonly namespace: string;
  readonly isInUserNamespace: boolean;
  /** The last engine of the checkout. */
  readonly engine: EngineRecord | null;
  /** The engines of the user, in any checkout. */
  readonly others: readonly EngineRecord[];
  isRunning(engine: EngineRecord): boolean;
}

/**
 * The author for whom this process speaks in a checkout. Call early: a process whose parent has ended can no longer
 * show its ancestors.
 */
export async function speakerIn(root: string, env: EnvVariables): Promise<EventAuthor> {
  const engine = await readEngineRecord(root);
  return identifiedSpeaker(await factsFor(engine, env), env);
}

/** Whether an engine started this process. Tokens are neither required nor checked. */
export async function isAgentIn(root: string, env: EnvVariables): Promise<boolean> {
  return speakerOf(await factsFor(await readEngineRecord(root), env)).type === "agent";
}

/** An agent stays an agent, even with a valid token. */
async function identifiedSpeaker(facts: SpeakerFacts, env: EnvVariables): Promise<EventAuthor> {
  const speaker = speakerOf(facts);
  if (speaker.type === "agent" || !hasGivenToken(env)) return speaker;
  await assertToken(facts.engine?.userState ?? userStateFolder(env), env);
  return { type: "person", identity: "token" };
}

async function factsFor(engine: EngineRecord | null, env: EnvVariables): Promise<SpeakerFacts> {
  const line = await ancestry();
  return {
    line,
    marks: engineMarks(line),
    boot: bootId(),
    namespace: processNamespace(),
    isInUserNamespace: isInUserNamespace(),
    engine,
    others: await enginesOf(engine?.userState ?? userStateFolder(env)),
    isRunning,
    holdsTerminal,
    groupsOf: controlGroups,
  };
}

/** The rule of `speakerIn` for a process without a token, from what is known about the machine. */
export function speakerOf(facts: SpeakerFacts): EventAuthor {
  const { line, marks, boot, engine } = facts;
  const [self] = line;
  const others = facts.others.filter((each) => facts.isRunning(each) || each.namespace !== facts.namespace);
  const known = [engine, ...others].filter((each) => each !== null).filter((each) => each.boot === boot);
  const isEngine = ({ pid, startedAt }: Ancestor): boolean =>
    engine !== null && engine.boot === boot && pid === engine.pid && startedAt === engine.startedAt;
  const above = line.slice(1).find(isEngine);
  if (above !== undefined) return { type: "agent", why: `process ${above.pid} above it is the engine` };
  const [mark] = marks.filter((each) => !(engine?.above ?? []).includes(each));
  if (mark !== undefined) return { type: "agent", why: `it, or a process above it, carries the mark ${mark}` };
  if (self === undefined) return { type: "claim", why: "the system does not show which process started it" };
  if (self.terminal === "") return { type: "claim", why: "it has no terminal and no token" };
  if (facts.isInUserNamespace && known.length === 0)
    return { type: "claim", why: "it is in a user namespace, where files can be hidden from it" };
  if (known.some(({ namespace }) => namespace !== facts.namespace))
    return { type: "claim", why: "it is in another process namespace than the engine" };
  const lives = known.map((each): EngineLife => ({ ...each, isRunning: facts.isRunning(each) }));
  const doubt = untrustedTerminalReason({ ...facts, engines: lives.filter((each) => each.pid !== self.pid) });
  return doubt === null ? { type: "person", identity: "terminal" } : { type: "claim", why: doubt };
}

/**
 * Throws unless this process may make a token or a key. An identified person may; so may any process while no engine
 * has run in this folder and none of the user's since the machine started, because then no engine can have started it
 * (a script that sets up CI).
 */
export async function assertMayMakeToken(root: string, env: EnvVariables, what = "token"): Promise<void> {
  const facts = await factsFor(await readEngineRecord(root), env);
  const speaker = await identifiedSpeaker(facts, env);
  if (speaker.type === "agent") assertAuthority(speaker, []);
  const isHidden = facts.line.length === 0 || facts.isInUserNamespace;
  if (speaker.type !== "claim" || (!isHidden && facts.engine === null && facts.others.length === 0)) return;
  throw new RemandError(
    "not-a-person",
    `A new ${what} needs an identified person, and this process only claims to be one: ${speaker.why}`,
    "Run it in a terminal that is older than the engine, or after a login by ssh; or pass the token that you have: " +
      "REMAND_TOKEN or --token-file. A script makes the token before the first engine is started.",
  );
}

/** The author for whom an engine speaks, and the environment for its processes. */
export interface Engine {
  readonly speaker: EventAuthor;
  readonly env: EnvVariables;
}

/**
 * Becomes the engine in a checkout whose journal this process has just locked: refuses a process that an engine
 * started, ends processes that an earlier engine left, and returns the environment that marks all processes started
 * from now on.
 */
export async function becomeEngine(root: string, env: EnvVariables): Promise<Engine> {
  const known = await readEngineRecord(root);
  const facts = await factsFor(known, env);
  // A missing journal does not mean that this engine starts the first one: the clone may remember an earlier journal.
  const isBegun = existsSync(stateFolder(root).journal) || (await (await journalAnchors(root)).read()) !== null;
  const above = isBegun ? (known?.above ?? []) : facts.marks;
  const speaker = await identifiedSpeaker({ ...facts, engine: { ...(known ?? NO_ENGINE), above } }, env);
  assertAuthority(speaker, []);
  const [self] = facts.line;
  const userState = userStateFolder(env);
  const { boot, namespace } = facts;
  const startedAt = self?.startedAt ?? 0;
  const here = { boot, namespace, controlGroups: controlGroups(), above, userState };
  await writeEngineRecord(root, userState, { pid: process.pid, startedAt, ...here });
  // No other engine works here, so processes that still carry the cookie were left by an engine that is gone.
  const cookie = `remand-${sha256(root).slice(0, 24)}`;
  // Agents under a supervisor keep running: recovery decides about them, and needs the journal for that.
  await killLeftovers(cookie, LEFTOVER_MS, await supervisedCookies(stateFolder(root).runs));
  await removeAbandonedFolders();
  return { speaker, env: { ...withoutPersonal(env), [COOKIE_VARIABLE]: cookieValue(env[COOKIE_VARIABLE], cookie) } };
}

const LEFTOVER_MS = 500;

/** Makes the user's token for a person, or for a script that runs before any engine. */
export async function makeTokenFor(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  rotate: boolean,
  now: number,
): Promise<{ readonly token: string | null; readonly madeAt: number }> {
  const userState = userStateFolder(env);
  await assertMayMakeToken(root, env);
  const madeAt = rotate ? null : await tokenMadeAt(userState);
  if (madeAt !== null) return { token: null, madeAt };
  return { token: await makeToken(userState, now), madeAt: now };
}

/** The stored form of a token: enough to recognize it, but not to use it. */
interface KeptToken {
  readonly sha256: string;
  readonly madeAt: number;
}

const TOKEN_VARIABLE = "REMAND_TOKEN";
const TOKEN_FILE_VARIABLE = "REMAND_TOKEN_FILE";

const fileIn = (userState: string): string => join(userState, "token.json");

/**
 * Makes a new token of the user, which replaces the one before. Only its hash is stored, in a file that other users
 * cannot read.
 */
async function makeToken(userState: string, now: number): Promise<string> {
  const token = `rmd_${randomBytes(32).toString("base64url")}`;
  const kept: KeptToken & { schema: string } = { schema: "remand.token/1", sha256: sha256(token), madeAt: now };
  await mkdir(userState, { recursive: true, mode: 0o700 });
  const file = fileIn(userState);
  await writeFile(`${file}.new`, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
  return token;
}

/** When the user's token was made; `null` where there is none. */
async function tokenMadeAt(userState: string): Promise<number | null> {
  return (await keptToken(userState))?.madeAt ?? null;
}

/** Whether a token was given, right or wrong. An empty variable counts as unset. */
const hasGivenToken = (env: EnvVariables): boolean =>
  (env[TOKEN_VARIABLE] ?? "") !== "" || (env[TOKEN_FILE_VARIABLE] ?? "") !== "";

/** Throws unless the token that was given is the user's. */
async function assertToken(userState: string, env: EnvVariables): Promise<void> {
  const file = env[TOKEN_FILE_VARIABLE] ?? "";
  const given = file === "" ? (env[TOKEN_VARIABLE] ?? "") : await tokenIn(file);
  const kept = await keptToken(userState);
  if (kept === null)
    throw new RemandError(
      "not-a-person",
      `A token was given, and there is none in ${userState}`,
      "Make one: remand token. If the engine runs with another XDG_STATE_HOME, make it with the same.",
    );
  // Hashes are compared, so that the time of the comparison reveals nothing about the token.
  if (timingSafeEqual(Buffer.from(sha256(given.trim())), Buffer.from(kept.sha256))) return;
  throw new RemandError(
    "not-a-person",
    "The token is wrong",
    `Pass the token that remand token printed, in ${TOKEN_VARIABLE} or --token-file; remand token rotate makes a new one.`,
  );
}

async function tokenIn(file: string): Promise<string> {
  await refuseOpenFile(file);
  return readFile(file, "utf8");
}

async function keptToken(userState: string): Promise<KeptToken | null> {
  const file = fileIn(userState);
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  await refuseOpenFile(file);
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value) && typeof value["madeAt"] === "number") {
      const hash = value["sha256"];
      if (typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)) return { sha256: hash, madeAt: value["madeAt"] };
    }
  } catch {
    // Reported below, with the way out.
  }
  throw new RemandError("file-unreadable", `${file} is not a token's file`, "Make a new token: remand token rotate.");
}

/** Refuses a file that others can read. Windows has no such modes: every file would look open there. */
async function refuseOpenFile(file: string): Promise<void> {
  const { mode } = await stat(file).catch(() => {
    throw new RemandError("file-missing", `there is no file ${file}`, "Give --token-file the file with your token.");
  });
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new RemandError(
    "not-a-person",
    `Other users may read or write ${file} (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
    `Run chmod 600 ${file}. If others may have read it, make a new token: remand token rotate.`,
  );
}
