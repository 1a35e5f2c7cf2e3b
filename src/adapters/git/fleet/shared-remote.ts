import { setTimeout as pause } from "node:timers/promises";
import { RemandError } from "../../../core/events/error.ts";
import type { Environment } from "../../process/environment.ts";
import { type GitAnswer, createGit } from "../git.ts";
import { trimLine } from "../repository.ts";
import { clearBegunWorktrees } from "../remove-folder.ts";

/** The repository that all machines share. Temporary failures are retried, within a time limit. */
export interface Remote {
  /** Its name in the clone. */
  readonly name: string;
  /** Its address, without a login. */
  readonly address: string;
  /** Returns `false` if the remote does not have what was requested. */
  fetch(specs: readonly string[]): Promise<boolean>;
  /** Returns all refs that match the patterns, with their commits. */
  list(patterns: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Pushes refs and returns the result of each. */
  push(pushes: readonly Push[], patience?: "patient" | "once"): Promise<ReadonlyMap<string, PushResult>>;
  /** Sends the git-lfs files that a commit refers to. */
  sendLargeFiles(commit: string): Promise<void>;
}

export interface Push {
  readonly ref: string;
  /** `null`: delete the ref. */
  readonly commit: string | null;
  /** Overwrite this commit, if the ref is still at it. By default the ref only moves forward. */
  readonly over?: string;
}

/** `elsewhere`: the ref is not at an ancestor of the commit, or not at `over`; nothing was changed. */
export type PushResult = "done" | "elsewhere";

export interface RemoteOptions {
  readonly root: string;
  readonly login: Login;
  readonly env: Environment;
  /** A value in the environment by which a git call is found that outlived the engine. */
  readonly cookie: string;
  readonly signal?: AbortSignal;
  /** Delays before each retry. */
  readonly waitsMs?: readonly number[];
}

export const REMOTE_NAME = "origin";

const WAITS_MS = [200, 500, 1000, 2000, 4000, 8000];
/** A first clone may be large; later calls transfer only what is new. */
const CLONE_MS = 60 * 60_000;
const CALL_MS = 5 * 60_000;
/** Far more than git needs to write its note on a new worktree. */
const BEGUN_MS = 20_000;
/** For calls whose failure does not stop the work, such as showing a branch. */
const SHORT_CALL_MS = 20_000;
/** Stops retrying after this time, so that calls that hang are retried less often than calls that fail at once. */
const LONGEST_TRYING_MS = 60_000;

/** Uses the remote's address, not its name: a name is resolved by the clone's config, which agents can write. */
export function createRemote(options: RemoteOptions): Remote {
  const { login } = options;
  const call = createPatientGit(options);

  return {
    name: REMOTE_NAME,
    address: login.address,
    async fetch(specs) {
      const answer = await call("nothing could be fetched", [...FETCH, "--", login.address, ...specs]);
      if (answer.exitCode === 0) return true;
      if (troubleIn(answer.stderr) === "not-there") return false;
      throw remoteError("nothing could be fetched", login.address, answer.stderr);
    },
    async list(patterns) {
      const answer = await call("the branches cannot be listed", ["ls-remote", "--", login.address, ...patterns]);
      if (answer.exitCode !== 0) throw remoteError("the branches cannot be listed", login.address, answer.stderr);
      const lines = answer.stdout.split("\n").filter((line) => line !== "");
      return new Map(lines.map((line) => [line.slice(line.indexOf("\t") + 1), line.slice(0, line.indexOf("\t"))]));
    },
    async push(pushes, patience = "patient") {
      if (pushes.length === 0) return new Map();
      const leases = pushes.flatMap(({ ref, over }) => (over === undefined ? [] : `--force-with-lease=${ref}:${over}`));
      const specs = pushes.map(({ ref, commit }) => `${commit ?? ""}:${ref}`);
      const what = "the work could not be sent";
      const answer = await call(what, [...PUSH, ...leases, "--", login.address, ...specs], patience);
      return pushedIn(answer, (words) => remoteError(what, login.address, words));
    },
    async sendLargeFiles(commit) {
      const what = "large files could not be sent";
      const { exitCode, stdout, stderr } = await call(what, ["lfs", "push", REMOTE_NAME, commit]);
      if (exitCode !== 0) throw remoteError(what, login.address, `${stdout}\n${stderr}`);
    },
  };
}

/** Fetches only what is requested: a fleet's remote has as many branches as there are stories. */
const FETCH = [
  "fetch",
  "--quiet",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-recurse-submodules",
  // The remote may itself be shallow.
  "--update-shallow",
  "--refmap=",
];

const PUSH = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"];

const SETTINGS = [
  "http.lowSpeedLimit=100",
  "http.lowSpeedTime=60",
  // Keeps a fetched pack as one file, so that a kill never leaves a commit without its files.
  "fetch.unpackLimit=1",
];

/** Calls git until it succeeds, or until temporary failures have lasted too long. No output contains a login. */
export function createPatientGit(
  options: RemoteOptions,
): (what: string, args: readonly string[], patience?: "patient" | "once") => Promise<GitAnswer> {
  const { root, login, env, cookie, signal } = options;
  const settings = [...login.settings, ...SETTINGS];
  const git = createGit(root, { ...env, ...login.env }, settings, cookie);
  const once = async (args: readonly string[], timeoutMs: number): Promise<GitAnswer> => {
    try {
      const answer = await git.ask(args, { timeoutMs, remote: true });
      return { ...answer, stdout: login.hidden(answer.stdout), stderr: login.hidden(answer.stderr) };
    } catch (error) {
      if (!(error instanceof RemandError) || error.code !== "git-failed") throw error;
      return { exitCode: -1, stdout: "", stderr: login.hidden(error.message) };
    }
  };
  return async (what, args, patience = "patient") => {
    if (patience === "once") return once(args, SHORT_CALL_MS);
    const timeoutMs = args[0] === "clone" ? CLONE_MS : CALL_MS;
    const beganAt = performance.now();
    for (const waitMs of options.waitsMs ?? WAITS_MS) {
      const answer = await once(args, timeoutMs);
      const isPassing = answer.exitCode !== 0 && troubleIn(`${answer.stderr}\n${answer.stdout}`) === "passing";
      if (!isPassing || performance.now() - beganAt > LONGEST_TRYING_MS) return answer;
      if (/bad object worktrees\//.test(answer.stderr))
        await clearBegunWorktrees(trimLine(await git.run(["rev-parse", "--absolute-git-dir"])), BEGUN_MS);
      await pauseOrFail(waitMs, signal, () => remoteError(what, login.address, answer.stderr));
    }
    return once(args, timeoutMs);
  };
}

async function pauseOrFail(ms: number, signal: AbortSignal | undefined, error: () => RemandError): Promise<void> {
  try {
    await pause(ms, undefined, signal === undefined ? {} : { signal });
  } catch {
    // The call was aborted: report the failure that it was waiting out.
    throw error();
  }
}

/** Returns the result of each ref. A ref that another machine moved is a result; any other refusal is an error. */
function pushedIn(
  { exitCode, stdout, stderr }: GitAnswer,
  error: (words: string) => RemandError,
): ReadonlyMap<string, PushResult> {
  const pushed = new Map<string, PushResult>();
  for (const line of stdout.split("\n")) {
    const [flag = "", names = "", summary = ""] = line.split("\t");
    if (!names.includes(":")) continue;
    const isElsewhere =
      flag === "!" && /non-fast-forward|fetch first|stale info|needs force|already exists/.test(summary);
    if (flag === "!" && !isElsewhere) throw error(`${summary}\n${stderr}`);
    pushed.set(names.slice(names.indexOf(":") + 1), isElsewhere ? "elsewhere" : "done");
  }
  const isAnswered = exitCode === 0 || [...pushed.values()].includes("elsewhere");
  if (!isAnswered) throw error(stderr);
  return pushed;
}

/** An address without its login, and how git gets the login when the remote asks for it. */
export interface Login {
  readonly address: string;
  readonly settings: readonly string[];
  readonly env: Environment;
  /** Masks logins in a text, because git repeats addresses and servers repeat what they were sent. */
  hidden(text: string): string;
}

/**
 * Takes the login out of an address. In the address, it would be stored in the clone's config, where agents can read
 * it, and appear in the command line of git's helpers. Git gets it through its environment instead.
 */
export function loginOf(remote: string): Login {
  const [, scheme, login, rest] = /^(https?:\/\/)([^/@]*)@(.*)$/is.exec(remote) ?? [];
  if (scheme === undefined || login === undefined)
    return { address: remote, settings: [], env: {}, hidden: withoutLogin };
  const colon = login.indexOf(":");
  const username = decodePercent(colon === -1 ? login : login.slice(0, colon));
  const password = colon === -1 ? "" : decodePercent(login.slice(colon + 1));
  // A token is often given as the user name, so the name is a secret too. Short values are not masked, because they
  // match ordinary words.
  const secrets = [login, password, username].filter((secret) => secret.length >= LEAST_SECRET);
  return {
    address: `${scheme}${rest}`,
    settings: [`${helperOf(scheme, rest!)}=`, `${helperOf(scheme, rest!)}=${HELPER}`],
    env: { REMAND_GIT_USERNAME: username, REMAND_GIT_PASSWORD: password },
    hidden: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), withoutLogin(text)),
  };
}

const HELPER =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$REMAND_GIT_USERNAME" "$REMAND_GIT_PASSWORD"; }; f';

/**
 * For this server only: a server that it redirects to does not get the login. The key is set twice, because the empty
 * value clears the list: credential helpers of the machine's owner must not be asked, nor be given this login.
 */
const helperOf = (scheme: string, rest: string): string =>
  `credential.${scheme.toLowerCase()}${rest.split("/")[0]}.helper`;

const LEAST_SECRET = 8;

const withoutLogin = (text: string): string => text.replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1");

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Why git could not reach a remote, as far as its output tells. */
export type RemoteTrouble =
  /** May pass without a fix: the network, or another push at the same time. */
  | "passing"
  | "no-repository"
  | "no-rights"
  /** The remote was reached, and has no such branch or commit. */
  | "not-there"
  | "other";

/** In order of priority: when a connection closes because of another error, git prints both. */
const WORDS: readonly (readonly [RemoteTrouble, RegExp])[] = [
  ["not-there", /couldn't find remote ref|not our ref|unadvertised object|remote branch .* not found/i],
  ["no-rights", /permission denied|authentication failed|could not read (?:username|password)|error: 40[13]\b/i],
  ["no-rights", /service not enabled|insufficient permission|access (?:denied|rejected)(?! or)|not allowed to push/i],
  ["no-rights", /hook declined|protected branch|read-only|dubious ownership|is not allowed|denied to /i],
  ["no-repository", /does not appear to be a git repository|repository (?:'.*' )?(?:not found|does not exist)/i],
  ["no-repository", /repository not exported|no such (?:repository|project)|error: 404\b|not a git repository/i],
  ["passing", /could not resolve host|connection (?:refused|reset|timed out|closed)|network is (?:unreachable|down)/i],
  [
    "passing",
    /no route to host|unable to (?:connect|look ?up)|operation timed out|temporary failure|took longer than/i,
  ],
  [
    "passing",
    /early eof|hung up unexpectedly|unexpected disconnect|rpc failed|broken pipe|was ended by sig|gnutls_handshake/i,
  ],
  ["passing", /requested url returned error: (?:429|5\d\d)|failed to report status|kex_exchange_identification/i],
  [
    "passing",
    /cannot lock ref|unable to lock|failed to (?:update|write) ref|incorrect old value|\.lock': file exists/i,
  ],
  // A worktree is being made in the clone and is not complete yet.
  ["passing", /bad object worktrees\//i],
  ["no-repository", /does not exist/i],
];

export function troubleIn(words: string): RemoteTrouble {
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0] ?? "other";
}

/** Returns the error to show for a failed call. `words` must already be without logins. */
export function remoteError(what: string, address: string, words: string): RemandError {
  const said = words.trim().split("\n").slice(-3).join(" ").trim();
  switch (troubleIn(words)) {
    case "passing":
      return new RemandError(
        "forge-unreachable",
        `${what}: ${address} cannot be reached, or is busy: ${said}`,
        "Check the network and the remote; the step is retried automatically.",
      );
    case "no-repository":
      return new RemandError(
        "not-a-repository",
        `${what}: there is no repository at ${address}, or access is denied`,
        "Check the address, and who may read and push there: git ls-remote.",
      );
    case "no-rights":
      return new RemandError(
        "forge-refused",
        `${what}: ${address} does not allow it: ${said}`,
        "Give this worker a login, or a key, that may read and push there (branches remand/* and refs/remand/*).",
      );
    default:
      return new RemandError(
        "git-failed",
        `${what}: ${said === "" ? "git does not say why" : said}`,
        "See what git says, fix it at the remote or in the clone, and run the same command again.",
      );
  }
}
