import { RemandError } from "../../core/events/error.ts";
import { type Environment, allowedEnvironment, checkVariables } from "../process/environment.ts";
import { runProcess } from "../process/run-process.ts";

/** Calls git. Every call of it in Remand goes through here. */
export interface Git {
  /** What a call prints that has to succeed; anything else is a RemandError. */
  run(args: readonly string[], call?: GitCall): Promise<string>;
  /** A call whose failure is an answer too. */
  ask(args: readonly string[], call?: GitCall): Promise<GitAnswer>;
}

export interface GitCall {
  readonly cwd?: string;
  readonly stdin?: string;
  /** An index of our own: the checkout's is not touched. */
  readonly index?: string;
  readonly timeoutMs?: number;
  /** The call talks to a remote, and so gets what a login there may need. */
  readonly remote?: boolean;
  /** A text that is too long comes with its middle cut out, and says so, instead of being an error. */
  readonly mayBeCut?: boolean;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * What has to be the same for every user, whatever their configuration says: no hooks, no background work, no
 * signatures, no colours, names as they are, and nothing that refuses a file for its line ends.
 */
const FIXED = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  // Settings that could make git report a changed file as unchanged, or as binary.
  "core.sparseCheckout=false",
  "core.checkStat=default",
  "core.trustctime=true",
  "core.bigFileThreshold=512m",
  "core.quotePath=false",
  "core.safecrlf=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "i18n.commitEncoding=utf-8",
  "i18n.logOutputEncoding=utf-8",
  "color.ui=false",
  "advice.addEmbeddedRepo=false",
  "diff.suppressBlankEmpty=false",
];

/**
 * `settings` are this repository's own: an identity for those who have none, filters that cannot run. By the cookie a
 * call is found that outlived us.
 */
export function createGit(
  folder: string,
  environment: Environment,
  settings: readonly string[] = [],
  cookie?: string,
): Git {
  const fixed = [...FIXED, ...settings].flatMap((setting) => ["-c", setting]);
  const local = localEnvironment(environment);
  const remote = remoteEnvironment(environment);

  const known = new Map<string, GitAnswer>();

  async function ask(args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
    if (!readsOnlyObjects(args) || call.cwd !== undefined || call.mayBeCut === true) return start(args, call);
    const key = args.join("\0");
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = await start(args, call);
    if (answer.exitCode === 0 && answer.stdout.length <= MAX_KNOWN_LENGTH) {
      if (known.size >= MAX_KNOWN_ANSWERS) known.clear();
      known.set(key, answer);
    }
    return answer;
  }

  async function start(args: readonly string[], call: GitCall): Promise<GitAnswer> {
    const env = call.remote === true ? remote : local;
    const result = await runProcess({
      command: ["git", ...fixed, ...args],
      cwd: call.cwd ?? folder,
      env: call.index === undefined ? env : { ...env, GIT_INDEX_FILE: call.index },
      timeoutMs: call.timeoutMs ?? TIMEOUT_MS,
      sandbox: null,
      maxOutputBytes: MAX_BYTES,
      // With these settings git leaves no process behind, and it is called too often to look for leftovers each time.
      survivors: "spare",
      ...(call.stdin === undefined ? {} : { stdin: call.stdin }),
      ...(cookie === undefined ? {} : { cookie }),
    });
    const name = `git ${args[0]}`;
    if (result.status === "failed-to-start") throw notStarted(result.failure!);
    if (result.status === "timeout") {
      throw gitFailure(`${name} took longer than ${(call.timeoutMs ?? TIMEOUT_MS) / 1000} s`, result.stderr);
    }
    if (result.exitCode === null) throw gitFailure(`${name} was ended by ${result.signal}`, result.stderr);
    if (result.truncated && call.mayBeCut !== true)
      throw gitFailure(`${name} printed more than ${MAX_BYTES} bytes`, "");
    return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  }

  return {
    ask,
    async run(args, call) {
      const { exitCode, stdout, stderr } = await ask(args, call);
      if (exitCode !== 0) throw gitFailure(`git ${args[0]} failed with ${exitCode}`, stderr);
      return stdout;
    },
  };
}

const MAX_KNOWN_ANSWERS = 300;
const MAX_KNOWN_LENGTH = 16_384;

/**
 * Whether a call reads objects by their ids and nothing else. Objects never change (replacements are off), so such a
 * call is answered once.
 */
function readsOnlyObjects(args: readonly string[]): boolean {
  const [command, ...rest] = args[0] === "--literal-pathspecs" ? args.slice(1) : args;
  const end = rest.indexOf("--");
  const names = rest.slice(0, end === -1 ? undefined : end).filter((arg) => !arg.startsWith("-") && arg !== "blob");
  const isRead = command === "ls-tree" || command === "diff-tree" || (command === "cat-file" && rest[0] === "blob");
  const isTree =
    command === "rev-parse" && rest.includes("--verify") && names.every((name) => name.endsWith("^{tree}"));
  return (
    (isRead || isTree) &&
    names.length > 0 &&
    names.every((name) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?![^:^])/.test(name))
  );
}

/**
 * Where configuration is, and how a remote is reached, may be said by the user; where the repository, the index or the
 * identity is, only by us.
 */
const KEPT = new Set([
  "GIT_ALLOW_PROTOCOL",
  "GIT_ASKPASS",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
  "GIT_LFS_SKIP_SMUDGE",
  "GIT_PROXY_COMMAND",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_SSH_VARIANT",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
  "GIT_SSL_CERT",
  "GIT_SSL_KEY",
  "GIT_SSL_NO_VERIFY",
]);

/**
 * Filters, merge drivers and helpers are programs that git starts by its configuration, and agents can write to the
 * repository's. So a call sees the usual few variables, and none with a secret in it. The address of the SSH agent is
 * there, because git fetches the missing files of a partial clone in the midst of any call.
 */
const localEnvironment = (source: Environment): Environment => ({
  ...allowedEnvironment(source, [...KEPT, "SSH_AUTH_SOCK", "SSH_AGENT_PID"]),
  ...ALWAYS,
});

/**
 * For push, fetch and clone: what is no secret, and the logins of git servers, which credential helpers read. Keys of
 * models and of anything else are no login.
 */
function remoteEnvironment(source: Environment): Environment {
  const { seen } = checkVariables(source, [...LOGINS, ...furtherLogins(source)]);
  const kept = Object.entries(seen).filter(([name]) => !name.startsWith("GIT_") || KEPT.has(name));
  return { ...Object.fromEntries(kept), ...ALWAYS };
}

/** A credential helper may read more than what the usual servers need: `REMAND_GIT_ENV=AWS_*,VAULT_TOKEN`. */
const furtherLogins = ({ REMAND_GIT_ENV = "" }: Environment): string[] =>
  REMAND_GIT_ENV.split(/[\s,]+/).filter((name) => name !== "");

const LOGINS = [
  ...KEPT,
  "REMAND_GIT_USERNAME",
  "REMAND_GIT_PASSWORD",
  "SSH_*",
  "GCM_*",
  "GH_*",
  "GITHUB_*",
  "GITLAB_*",
  "CI_JOB_TOKEN",
  "BITBUCKET_*",
  "AZURE_DEVOPS_*",
  "SYSTEM_ACCESSTOKEN",
];

const ALWAYS = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C",
};

function notStarted(failure: { readonly code: string; readonly message: string }): RemandError {
  if (failure.code === "ENOENT" && failure.message.startsWith("there is no program")) {
    return new RemandError(
      "git-missing",
      "git is not installed, or not on the PATH",
      "Install git, or add it to PATH.",
    );
  }
  return gitFailure("git could not be started", failure.message);
}

/** Git's own words are the best there are: the last of them say what is wrong. */
export function gitFailure(what: string, stderr: string): RemandError {
  const words = stderr.trim().split("\n").slice(-5).join("\n  ");
  return new RemandError(
    "git-failed",
    words === "" ? what : `${what}: ${words}`,
    "See what git says, fix it in the repository, and run the same command again.",
  );
}
