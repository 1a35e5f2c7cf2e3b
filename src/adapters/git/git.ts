import { RemandError } from "../../core/events/error.ts";
import { type Environment, allowedEnvironment, checkVariables } from "../process/environment.ts";
import { runProcess } from "../process/run-process.ts";

/** Calls git. Every git call in Remand goes through this interface. */
export interface Git {
  /** Returns stdout. Throws a RemandError if the call fails. */
  run(args: readonly string[], call?: GitCall): Promise<string>;
  /** Returns the result of the call, whether it succeeded or failed. */
  ask(args: readonly string[], call?: GitCall): Promise<GitAnswer>;
}

export interface GitCall {
  readonly cwd?: string;
  readonly stdin?: string;
  /** A separate index file, so that the checkout's is not touched. */
  readonly index?: string;
  readonly timeoutMs?: number;
  /** Whether the call talks to a remote and gets the variables that a login may need. */
  readonly remote?: boolean;
  /** Whether output over the limit is cut in the middle, with a note, instead of being an error. */
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
 * Settings that must be the same for every user, regardless of their configuration: no hooks, no background work, no
 * signatures, no colors, unquoted names, and no file refused for its line ends.
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
 * Creates the interface to git. `settings` are for this repository: an identity if the user has none, filters that
 * cannot run. A call that outlives the engine is found by its cookie.
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
      // With these settings git leaves no process behind, and git is called too often to look for leftovers each time.
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
 * Whether a call reads objects only by their ids. Objects never change (replacements are off), so the result can be
 * cached.
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
 * Variables that the user may set: where configuration is, and how a remote is reached. Those for the repository, the
 * index and the identity are set only by Remand.
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
 * The environment of local calls. Git starts filters, merge drivers and helpers from its configuration, which agents
 * can change, so a call gets few variables and no secrets. The address of the SSH agent is kept, because git may fetch
 * missing files of a partial clone during any call.
 */
const localEnvironment = (source: Environment): Environment => ({
  ...allowedEnvironment(source, [...KEPT, "SSH_AUTH_SOCK", "SSH_AGENT_PID"]),
  ...ALWAYS,
});

/**
 * The environment of push, fetch and clone: variables without secrets, and the logins of git servers, which credential
 * helpers read. Other keys, such as those of models, are left out.
 */
function remoteEnvironment(source: Environment): Environment {
  const { seen } = checkVariables(source, [...LOGINS, ...furtherLogins(source)]);
  const kept = Object.entries(seen).filter(([name]) => !name.startsWith("GIT_") || KEPT.has(name));
  return { ...Object.fromEntries(kept), ...ALWAYS };
}

/** Returns more variables that a credential helper may read: `REMAND_GIT_ENV=AWS_*,VAULT_TOKEN`. */
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

/** Returns an error with the last lines of git's own output, which name the problem. */
export function gitFailure(what: string, stderr: string): RemandError {
  const words = stderr.trim().split("\n").slice(-5).join("\n  ");
  return new RemandError(
    "git-failed",
    words === "" ? what : `${what}: ${words}`,
    "See what git says, fix it in the repository, and run the same command again.",
  );
}
