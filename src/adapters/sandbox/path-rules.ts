import { posix, isAbsolute, join, dirname } from "node:path";
import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { planHome, withoutLogins } from "../process/private-home.ts";
import { entranceTo } from "../process/mounted-folder.ts";
import type { CellRequest } from "../../ports/sandbox.ts";

/** What a program sees at a path and below it. The deepest rule wins. */
export interface PathRule {
  readonly path: string;
  readonly kind: PathKind;
  /** For a copy: the folder that is shown at the path. */
  readonly from?: string;
}

export type PathKind =
  /** The real files; writes are kept. */
  | "write"
  /** The real files; writes are thrown away. */
  | "copy"
  /** The real files, read-only. */
  | "read"
  /** An empty folder, thrown away afterwards. */
  | "empty"
  /** Nothing, and read-only. */
  | "hidden";

/** If two rules have the same path, the more permissive wins, because it was added for this program. */
const GENEROUS: readonly PathKind[] = ["hidden", "empty", "read", "copy", "write"];

/** Returns one rule per path, parents first, without rules that change nothing. */
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
    // Below a hidden folder everything is hidden already, and a copy inside a copy needs no mount.
    return above?.kind !== kind && !(above?.kind === "empty" && kind === "hidden");
  });
}

/** A rule that shows another folder wins, because it exists to keep the real one from the program. */
const isStronger = (rule: PathRule, known: PathRule): boolean =>
  known.from === undefined && (rule.from !== undefined || GENEROUS.indexOf(rule.kind) > GENEROUS.indexOf(known.kind));

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const isBelow = (path: string, folder: string): boolean =>
  path !== folder && path.startsWith(folder === posix.sep ? folder : `${folder}/`);

export interface SandboxProject {
  /** The user's checkout: programs read it, and work in another one. */
  readonly top: string;
  /** Its git folder, which the checkouts of the stories share. */
  readonly commonDir: string;
  /** Remand's state folder in it: journal, evidence, the checkouts of other stories. */
  readonly state: string;
  /** Remand's folders in the user's HOME: tokens, keys, settings. */
  readonly remandFolders: readonly string[];
  /** Folders of installed packages below `remandFolders`: tools write beside the packages, and those writes are thrown away. */
  readonly packages: readonly string[];
  /** Read-only folders below `remandFolders` or `state`: the logs that briefs name. */
  readonly readableFolders: readonly string[];
}

export interface SandboxUser {
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether programs may use the sockets of docker and podman. */
  readonly docker: boolean;
  /** More folders that programs may read, or write to. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The commands of the checks. Agents may not write to files that these name. */
  readonly checks: readonly string[];
  /** Variables that are passed on although they are normally withheld. */
  readonly variables: readonly string[];
}

/**
 * Makes files read-only that the checks name outside of the project, because an agent may be able to write beside them.
 */
export function checkFiles({ checks }: SandboxUser, { top }: SandboxProject): readonly PathRule[] {
  const words = checks.flatMap((text) => text.split(SEPARATORS)).filter((word) => isAbsolute(word));
  const outside = words.filter((word) => word !== top && !word.startsWith(`${top}/`) && isPlain(word));
  return [...new Set(outside)].map((path) => ({ path, kind: "read" }));
}

/** Returns the rules for everything that programs must not see as the user does. */
export function privatePaths(
  { top, commonDir, state, remandFolders, packages, readableFolders }: SandboxProject,
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
    ...[state, ...remandFolders].map(rule("hidden")),
    ...packages.map(rule("copy")),
    ...readableFolders.map(rule("read")),
    ...user.write.map(rule("write")),
  ];
}

/** Returns the user's logins, except those of agents: a running agent needs its own. */
const logins = (home: string): readonly string[] =>
  planHome(home, { withSecrets: false })
    .leftOut.filter((path) => !AGENT_LOGINS.has(path))
    .map((path) => join(home, path));

const AGENT_LOGINS: ReadonlySet<string> = new Set([".claude", ".claude.json", ".codex", ".gemini"]);

/** Returns settings that contain logins, with their text without the logins. */
export function settingsWithoutLogins(home: string | undefined): ReadonlyMap<string, string> {
  return home === undefined
    ? new Map()
    : withoutLogins(home, (path) => (existsSync(path) ? readFileSync(path, "utf8") : null));
}

/** Folders in which other programs leave sockets: tmux, the agents of ssh and gpg, a display. */
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

/** Returns the top entry of a temporary folder that contains a path: files beside it are shown too. */
function topTemporary(path: string): string | null {
  const folder = TEMPORARY.find((each) => path.startsWith(`${each}/`));
  return folder === undefined ? null : join(folder, path.slice(folder.length + 1).split("/")[0]!);
}

/** Returns the temporary folders that a command line or an environment names. */
function temporaryPaths(texts: readonly string[]): readonly string[] {
  const words = texts.flatMap((text) => text.split(SEPARATORS));
  const tops = words.flatMap((word) => topTemporary(word) ?? []);
  return [...new Set(tops)].filter((path) => isPlain(path));
}

/** Separates the words of a command line that may be paths. */
const SEPARATORS = /[\s'"`;:|&<>()=,]+/;

function isPlain(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isDirectory() || stat.isFile());
}

/** Sockets of services that start programs for the user, outside of every sandbox. */
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

/** Whether a variable leads to such a service, or is a forge's login. */
export function withheldNames({ docker, variables }: SandboxUser): (name: string) => boolean {
  const named = new Set(variables);
  return (name) =>
    !named.has(name) && (LEADS_OUT.test(name) || (!docker && /^(?:DOCKER|CONTAINER|PODMAN)_HOST$/.test(name)));
}

const LEADS_OUT =
  /^(?:SSH_\w+|GPG_AGENT_INFO|DBUS_\w+|TMUX\w*|STY|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|(?:GH|GITHUB|GITLAB|GLAB|GITEA|FORGEJO|BITBUCKET)_(?:\w+_)?TOKEN|REMAND_TOKEN)$/;

/**
 * Returns the checkout that contains a program's folder, by git's entry in it; otherwise the folder itself. Does not
 * look beyond a hidden folder: a program that removes its own `.git` must not get the checkout around it.
 */
export function checkoutAround(cwd: string, rules: readonly PathRule[]): string {
  const hidden = new Set(rules.filter(({ kind }) => kind === "hidden").map(({ path }) => realPath(path)));
  for (let folder = cwd; dirname(folder) !== folder && !hidden.has(folder); folder = dirname(folder))
    if (existsSync(join(folder, ".git"))) return folder;
  return cwd;
}

/**
 * Resolves a path. A path that is mounted only for this process looks like a link from outside, and is returned
 * unchanged.
 */
export function realPath(path: string): string | null {
  if (entranceTo(path) !== null) return path;
  try {
    return realpathSync(path);
  } catch {
    // A missing path needs no rule.
    return null;
  }
}

export interface RuleOptions {
  /** Rules for all programs. */
  readonly rules: readonly PathRule[];
  /** The rule for a folder below /tmp that the command line names. */
  readonly namedTempKind: "read" | "write";
  /** The user's own checkout, which does not become writable because a command line names it. */
  readonly top: string;
}

/** Returns the rules for one program: the general ones, and those that its folder and command line add. */
export function* rulesForProgram(
  { rules, namedTempKind, top: userCheckout }: RuleOptions,
  request: CellRequest,
  aside: string,
): Iterable<PathRule> {
  const { cwd, env, writes, copies, command } = request;
  yield { path: "/", kind: "read" };
  for (const path of temporaryPaths(Object.values(env))) yield { path, kind: "read" };
  for (const path of temporaryPaths(command)) yield { path, kind: path === userCheckout ? "read" : namedTempKind };
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

/** Returns the git folder of a checkout that has its own. Programs may use it; their writes there are thrown away. */
function repositoryOf(top: string): string | null {
  const own = join(top, ".git");
  try {
    if (lstatSync(own).isDirectory()) return own;
  } catch {
    return null;
  }
  return null;
}
