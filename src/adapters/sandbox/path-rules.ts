import { posix, isAbsolute, join, dirname } from "node:path";
import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { planHome, withoutLogins } from "../process/private-home.ts";
import { entranceTo } from "../process/mounted-folder.ts";
import type { CellRequest } from "../../ports/sandbox.ts";

/** What a program finds at a path, and below it. The rule of the deepest path counts. */
export interface PathRule {
  readonly path: string;
  readonly kind: PathKind;
  /** Of a copy: the folder that is shown there in place of what is there. */
  readonly from?: string;
}

export type PathKind =
  /** As it is, and what is written is kept. */
  | "write"
  /** As it is; what is written is thrown away. */
  | "copy"
  /** As it is, and cannot be written. */
  | "read"
  /** An empty folder, thrown away afterwards. */
  | "empty"
  /** Nothing, and cannot be written. */
  | "hidden";

/** Of two rules for one path the more generous counts: it was added for this very program. */
const GENEROUS: readonly PathKind[] = ["hidden", "empty", "read", "copy", "write"];

/** One rule for each path, parents before what is below them, without rules that change nothing. */
export function planMounts(rules: readonly PathRule[]): readonly PathRule[] {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const known = byPath.get(rule.path);
    if (known === undefined || isStronger(rule, known)) byPath.set(rule.path, rule);
  }
  const sorted = [...byPath.values()].toSorted((a, b) => order(a.path, b.path));
  return sorted.filter(({ path, kind, from }, index) => {
    if (from !== undefined) return true;
    const above = sorted.slice(0, index).findLast((each) => isBelow(path, each.path));
    // What is below a hidden folder is hidden already; a copy inside of a copy would be a mount for nothing.
    return above?.kind !== kind && !(above?.kind === "empty" && kind === "hidden");
  });
}

/** What is shown in place of another folder is there to keep that one from the program. */
const isStronger = (rule: PathRule, known: PathRule): boolean =>
  known.from === undefined && (rule.from !== undefined || GENEROUS.indexOf(rule.kind) > GENEROUS.indexOf(known.kind));

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const isBelow = (path: string, folder: string): boolean =>
  path !== folder && path.startsWith(folder === posix.sep ? folder : `${folder}/`);

export interface SandboxProject {
  /** The user's checkout: programs read it, and work in another. */
  readonly top: string;
  /** Its history, which the checkouts of the stories share. */
  readonly commonDir: string;
  /** Remand's own folder in it: journal, evidence, the checkouts of other stories. */
  readonly state: string;
  /** Remand's folders of the user: tokens, keys, settings. */
  readonly own: readonly string[];
  /** Of those, the installed packages: tools write beside them, and what they write is thrown away. */
  readonly packages: readonly string[];
  /** Of those, what programs only read: the logs that briefs name. */
  readonly shown: readonly string[];
}

export interface SandboxUser {
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The sockets of docker and podman. */
  readonly docker: boolean;
  /** Further folders that programs may read, or write to. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The commands of the checks. Files that they name are not for agents to write. */
  readonly checks: readonly string[];
  /** Names of variables that are passed on although they are withheld from others. */
  readonly variables: readonly string[];
}

/** Files that the checks name outside of the project: an agent that may write beside them finds them as they are. */
export function checkFiles({ checks }: SandboxUser, { top }: SandboxProject): readonly PathRule[] {
  const words = checks.flatMap((text) => text.split(SEPARATORS)).filter((word) => isAbsolute(word));
  const outside = words.filter((word) => word !== top && !word.startsWith(`${top}/`) && isPlain(word));
  return [...new Set(outside)].map((path) => ({ path, kind: "read" }));
}

/** What programs find in place of what the user has. */
export function privatePaths(
  { top, commonDir, state, own, packages, shown }: SandboxProject,
  user: SandboxUser,
): readonly PathRule[] {
  const { home } = user;
  const rule =
    (kind: PathRule["kind"]) =>
    (path: string): PathRule => ({ path, kind });
  return [
    ...(home === undefined ? [] : [{ path: home, kind: "copy" } as const, ...logins(home).map(rule("hidden"))]),
    ...TEMPORARY.map(rule("empty")),
    ...[...SOCKETS, ...socketsIn(user.env), ...(user.docker ? [] : ENGINE_SOCKETS)].map(rule("hidden")),
    ...[topTemporary(top), top, ...user.read].flatMap((path) => (path === null ? [] : [rule("read")(path)])),
    rule("copy")(commonDir),
    ...[state, ...own].map(rule("hidden")),
    ...packages.map(rule("copy")),
    ...shown.map(rule("read")),
    ...user.write.map(rule("write")),
  ];
}

/** The user's logins. Those of agents stay: the agent that runs needs its own. */
const logins = (home: string): readonly string[] =>
  planHome(home, { withSecrets: false })
    .leftOut.filter((path) => !AGENT_LOGINS.has(path))
    .map((path) => join(home, path));

const AGENT_LOGINS: ReadonlySet<string> = new Set([".claude", ".claude.json", ".codex", ".gemini"]);

/** Settings that hold logins beside others, without the logins. */
export function settingsWithoutLogins(home: string | undefined): ReadonlyMap<string, string> {
  return home === undefined
    ? new Map()
    : withoutLogins(home, (path) => (existsSync(path) ? readFileSync(path, "utf8") : null));
}

/** Other programs leave sockets there: tmux, the agents of ssh and gpg, a display. */
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

/** What is below a folder for temporary files is shown with what is beside it. */
function topTemporary(path: string): string | null {
  const folder = TEMPORARY.find((each) => path.startsWith(`${each}/`));
  return folder === undefined ? null : join(folder, path.slice(folder.length + 1).split("/")[0]!);
}

/** Folders for temporary files that a command line, or an environment, leads to. */
function temporaryPaths(texts: readonly string[]): readonly string[] {
  const words = texts.flatMap((text) => text.split(SEPARATORS));
  const tops = words.flatMap((word) => topTemporary(word) ?? []);
  return [...new Set(tops)].filter((path) => isPlain(path));
}

/** Between the words of a command line, as far as paths are concerned. */
const SEPARATORS = /[\s'"`;:|&<>()=,]+/;

function isPlain(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isDirectory() || stat.isFile());
}

/** Services that start programs on behalf of the user, outside of every sandbox. */
const SOCKETS = ["/run/user", "/run/dbus", "/run/systemd/private", "/run/screen", "/run/tmux"];
const ENGINE_SOCKETS = ["/run/docker.sock", "/run/podman", "/run/containerd", "/run/crio", "/run/buildkit"];

function socketsIn(env: SandboxUser["env"]): readonly string[] {
  const named = [
    env["SSH_AUTH_SOCK"],
    env["TMUX"]?.split(",")[0],
    /unix:path=([^,;]+)/.exec(env["DBUS_SESSION_BUS_ADDRESS"] ?? "")?.[1],
    env["XDG_RUNTIME_DIR"],
  ];
  return named.flatMap((path) => (path?.startsWith("/") === true ? [path] : []));
}

/** Variables that lead to such a service, or are a login of a forge. */
export function withheldNames({ docker, variables }: SandboxUser): (name: string) => boolean {
  const named = new Set(variables);
  return (name) =>
    !named.has(name) && (LEADS_OUT.test(name) || (!docker && /^(?:DOCKER|CONTAINER|PODMAN)_HOST$/.test(name)));
}

const LEADS_OUT =
  /^(?:SSH_\w+|GPG_AGENT_INFO|DBUS_\w+|TMUX\w*|STY|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|(?:GH|GITHUB|GITLAB|GLAB|GITEA|FORGEJO|BITBUCKET)_(?:\w+_)?TOKEN|REMAND_TOKEN)$/;

/**
 * The folder around a program's folder that git knows as the top of a checkout; else the folder itself. It is not looked
 * for beyond a hidden folder: a program that removes its own `.git` must not get the checkout around that.
 */
export function checkoutAround(cwd: string, rules: readonly PathRule[]): string {
  const hidden = new Set(rules.filter(({ kind }) => kind === "hidden").map(({ path }) => realPath(path)));
  for (let folder = cwd; dirname(folder) !== folder && !hidden.has(folder); folder = dirname(folder))
    if (existsSync(join(folder, ".git"))) return folder;
  return cwd;
}

/** A path that is mounted for this process alone looks like a link from outside, and is itself inside. */
export function realPath(path: string): string | null {
  if (entranceTo(path) !== null) return path;
  try {
    return realpathSync(path);
  } catch {
    // What is not there needs no rule.
    return null;
  }
}

export interface RuleOptions {
  /** What is not as it is for the user, whatever program runs. */
  readonly rules: readonly PathRule[];
  /** What a folder below /tmp is that the command line names. */
  readonly named: "read" | "write";
  /** The user's own checkout, which is never written because a command line names it. */
  readonly top: string;
}

/** What one program finds at each path: the rules for all, and those that its folder and command line add. */
export function* cellRules(
  { rules, named, top: own }: RuleOptions,
  request: CellRequest,
  aside: string,
): Iterable<PathRule> {
  const { cwd, env, writes, copies, command } = request;
  yield { path: "/", kind: "read" };
  for (const path of temporaryPaths(Object.values(env))) yield { path, kind: "read" };
  for (const path of temporaryPaths(command)) yield { path, kind: path === own ? "read" : named };
  const top = checkoutAround(cwd, rules);
  const { HOME: home } = env;
  const isOwnHome = home !== undefined && rules.some(({ path, kind }) => kind === "hidden" && isBelow(home, path));
  const repository = repositoryOf(top);
  const all: readonly PathRule[] = [
    ...rules,
    ...[top, ...writes, ...(isOwnHome ? [home] : [])].map((path) => ({ path, kind: "write" }) as const),
    ...[...copies, ...(repository === null ? [] : [repository])].map((path) => ({ path, kind: "copy" }) as const),
  ];
  for (const { path, kind } of all) {
    const real = realPath(path);
    if (real !== null && !(kind === "copy" && (real === "/" || isBelow(aside, real)))) yield { path: real, kind };
  }
}

/** Where git keeps the checkout's history: the program may use it, and what it writes there is thrown away. */
function repositoryOf(top: string): string | null {
  const own = join(top, ".git");
  try {
    if (lstatSync(own).isDirectory()) return own;
  } catch {
    return null;
  }
  return null;
}
