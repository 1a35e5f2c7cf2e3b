import { existsSync, lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { planHome, withoutLogins } from "../process/private-home.ts";
import type { PathRule } from "./mount-plan.ts";

export interface SandboxProject {
  /** The user's checkout: programs read it, and work in another. */
  readonly top: string;
  /** Its history, which the checkouts of the stories share. */
  readonly commonDir: string;
  /** Remand's own folder in it: journal, evidence, the checkouts of other stories. */
  readonly state: string;
  /** Remand's folders of the user: tokens, keys, settings. */
  readonly own: readonly string[];
  /** Of those, what programs need: installed packages, and the logs that briefs name. */
  readonly packages: readonly string[];
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
  { top, commonDir, state, own, packages }: SandboxProject,
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
    ...packages.map(rule("read")),
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
export function temporaryPaths(texts: readonly string[]): readonly string[] {
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
