import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdir, readdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

export interface MountedFolder {
  /** Contains only what was written since the mount; a deleted file is a device there. */
  readonly upper: string;
  /** Ends the namespace. `upper` stays. */
  unmount(): Promise<void>;
}

export interface MountOptions {
  /** The path at which this process and the programs in the folder see it. Must not exist. */
  readonly path: string;
  /**
   * Folders whose files are shown, the first one on top. They are not written to, and must not change while mounted.
   */
  readonly lower: readonly string[];
  /** A folder for internal use, on the same disk as `lower`. */
  readonly aside: string;
}

/**
 * Mounts an overlay in a separate mount namespace, which ends with this process, so that nothing stays mounted after a
 * crash. Programs that `runProcess` starts in the folder enter the namespace; this process reads and writes through a
 * link. `null` if the machine does not allow it.
 */
export async function mountFolder({ path, lower, aside }: MountOptions): Promise<MountedFolder | null> {
  if (process.platform !== "linux" || [aside, path, ...lower].some((each) => /[:,\\\n"]/.test(each))) return null;
  for (const way of kind === undefined ? MOUNT_METHODS : kind === null ? [] : [kind]) {
    const mounted = await mountBy(way, { path, lower, aside });
    if (mounted !== null) {
      kind = way;
      return mounted;
    }
  }
  kind ??= null;
  return null;
}

/** Whether folders can be mounted on this machine. Tried once, in an empty folder. */
export async function canMountFolders(empty: string): Promise<boolean> {
  if (kind !== undefined) return kind !== null;
  const [lower, runs] = [join(empty, "lower"), join(empty, "runs")];
  for (const folder of [lower, runs]) await mkdir(folder, { recursive: true });
  const mounted = await mountFolder({ path: join(runs, "0"), lower: [lower], aside: join(empty, "aside") });
  await mounted?.unmount();
  return mounted !== null;
}

/** A way to create a namespace with an overlay in it. */
interface MountMethod {
  readonly unshare: readonly string[];
  readonly options: string;
  /** Returns the command that enters the namespace, and restores the user that the program ran as before. */
  inside(holder: number): readonly string[];
}

const MOUNT_METHODS: readonly MountMethod[] = [
  {
    // Root keeps all its rights.
    unshare: ["--mount"],
    options: "redirect_dir=on",
    inside: (holder) => [`--target=${holder}`, "--mount"],
  },
  {
    unshare: ["--user", "--map-root-user", "--mount"],
    options: "userxattr",
    inside: (holder) => [
      `--target=${holder}`,
      "--user",
      "--preserve-credentials",
      "--mount",
      "--",
      "unshare",
      "--user",
      `--map-user=${process.getuid!()}`,
      `--map-group=${process.getgid!()}`,
    ],
  },
];

/** The method that works on this machine; `null`: none. */
let kind: MountMethod | null | undefined;

/** Covers the parent folder, so that the link which this process uses is not visible inside. */
const HOLD = `set -e
mount -t overlay overlay -o "$1" "$2"
mount --rbind "$3" "$4"
command -v nsenter
exec cat`;

async function mountBy(way: MountMethod, { path, lower, aside }: MountOptions): Promise<MountedFolder | null> {
  const [upper, work, inside] = [join(aside, "upper"), join(aside, "work"), join(aside, "inside", basename(path))];
  for (const folder of [upper, work, inside]) await mkdir(folder, { recursive: true });
  const options = `${way.options},lowerdir=${lower.join(":")},upperdir=${upper},workdir=${work}`;
  const args = [
    ...way.unshare,
    "--propagation=private",
    "sh",
    "-c",
    HOLD,
    "sh",
    options,
    inside,
    dirname(inside),
    dirname(path),
  ];
  const holder = spawn("unshare", args, {
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const nsenter = await mountedWith(holder);
  const endHolder = (): Promise<void> => end(holder);
  if (nsenter === null) {
    await endHolder();
    return null;
  }
  letGo(holder);
  const remove = addEntrance(path, [nsenter, `--wd=${path}`, ...way.inside(holder.pid!), "--"]);
  await symlink(`/proc/${holder.pid}/root${path}`, path);
  const unmount = async (): Promise<void> => {
    remove();
    await unlink(path);
    await endHolder();
    // The kernel makes this folder so that its owner cannot remove it.
    await chmod(join(work, "work"), 0o700).catch(() => undefined);
  };
  // The namespace is of no use if this process cannot read it.
  const isSeen = await readdir(path).then(
    () => true,
    () => false,
  );
  if (isSeen) return { upper, unmount };
  await unmount();
  return null;
}

/** Resolves to the program that enters the namespace, after everything is mounted; `null` if that failed. */
function mountedWith(holder: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    holder.once("error", () => resolve(null));
    holder.once("exit", () => resolve(null));
    holder.stdin!.on("error", () => resolve(null));
    holder.stdout!.once("data", (text: Buffer) => resolve(text.toString().trim()));
  });
}

/** Keeps the holder from delaying this process's exit. It ends when its input is closed. */
function letGo(holder: ChildProcess): void {
  holder.unref();
  for (const stream of [holder.stdin, holder.stdout]) (stream as unknown as { unref?(): void } | null)?.unref?.();
}

async function end(holder: ChildProcess): Promise<void> {
  holder.stdin!.destroy();
  if (holder.pid === undefined || holder.exitCode !== null || holder.signalCode !== null) return;
  holder.ref();
  await new Promise<void>((resolve) => {
    holder.once("exit", () => resolve());
    holder.kill("SIGKILL");
  });
}

/** The mounted folders, each with the command that enters its namespace. */
const entrances = new Map<string, readonly [string, ...string[]]>();

function addEntrance(path: string, entrance: readonly [string, ...string[]]): () => void {
  entrances.set(path, entrance);
  return () => void entrances.delete(path);
}

/** Returns the command that a program in this folder must be started with; `null` for an ordinary folder. */
export function entranceTo(cwd: string): readonly [string, ...string[]] | null {
  for (const [path, [program, ...args]] of entrances)
    if (cwd === path || cwd.startsWith(`${path}${sep}`))
      return [program, ...args.map((each) => (each === `--wd=${path}` ? `--wd=${cwd}` : each))];
  return null;
}

/** Folders that sandboxed programs see at another path: the user's own, where their tools look for files. */
const shown = new Map<string, string>();

export interface ShownFolder {
  readonly folder: string;
  /** The path at which sandboxed programs see the folder. */
  readonly at: string;
}

/** Shows a folder to sandboxed programs at another path, until the returned function is called. */
export function showFolder({ folder, at }: ShownFolder): () => void {
  shown.set(folder, at);
  return () => void shown.delete(folder);
}

/** Returns the shown folder that contains a path; `null`: programs see the path where it is. */
export function shownFolderAround(path: string): ShownFolder | null {
  for (const [folder, at] of shown) if (`${path}${sep}`.startsWith(`${folder}${sep}`)) return { folder, at };
  return null;
}

/** Returns the path by which sandboxed programs see a file. */
export function pathInside(path: string): string {
  const around = shownFolderAround(path);
  return around === null ? path : `${around.at}${path.slice(around.folder.length)}`;
}

/** Replaces the folder's path in a text for a sandboxed program by the path that the program sees. */
export const textInside = (text: string, { folder, at }: ShownFolder): string => renamePath(text, folder, at);

/** Replaces paths in the output of a program that ran in `path` by the real ones. */
export function textOutside(text: string, path: string): string {
  const around = shownFolderAround(path);
  return around === null ? text : renamePath(text, around.at, around.folder);
}

/** Replaces a path, but not a longer one that begins with the same characters. */
const renamePath = (text: string, from: string, to: string): string =>
  text.includes(from) ? text.replace(pattern(from), () => to) : text;

const pattern = (path: string): RegExp =>
  new RegExp(`${path.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}(?![\\w-]|\\.\\w)`, "g");
