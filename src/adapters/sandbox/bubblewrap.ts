import { statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CELL_PREFIX, removeCellFolder } from "../process/launch.ts";
import { makeTempFolder, overlayFolder } from "../process/temp-folders.ts";
import { type ShownFolder, textInside } from "../process/mounted-folder.ts";
import type { Cell, CellRequest, Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel } from "../../core/events/isolation.ts";
import {
  isBelow,
  type PathRule,
  planMounts,
  type RuleOptions,
  rulesForProgram,
  checkoutAround,
  realPath,
} from "./path-rules.ts";

export interface BubblewrapOptions extends RuleOptions {
  readonly level: IsolationLevel;
  /** Files that are shown with other content. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Whether a variable is not passed on. */
  isWithheld(name: string): boolean;
  /** The git folder of the user's checkout, whose history clean checkouts use. */
  readonly commonDir: string;
  /** `none`: the program reaches only what it starts itself. */
  readonly network: "shared" | "none";
  /** Returns what a program sees of git in the checkout around its folder; default: everything. */
  viewGit?(top: string): Promise<readonly { readonly path: string; readonly from: string }[]>;
}

/**
 * A sandbox by bubblewrap: the file system is read-only; processes, temporary files and IPC are separate. Copies are
 * overlays, mounted in a namespace around bubblewrap, because its version 0.8 has none.
 */
export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  return { level: options.level, open: (request) => openCell(options, request) };
}

async function openCell(options: BubblewrapOptions, request: CellRequest): Promise<Cell> {
  const aside = await makeTempFolder(CELL_PREFIX, overlayFolder());
  const close = (): Promise<void> => Promise.resolve(removeCellFolder(aside));
  try {
    const { shown } = request;
    const inside = (text: string): string => (shown === undefined ? text : textInside(text, shown));
    const passed = Object.entries(request.env).filter(
      ([name]) => !options.isWithheld(name) && !PLACES_FOR_FILES.has(name),
    );
    const env = Object.fromEntries(passed.map(([name, value]) => [name, inside(value)]));
    const rules = await rulesWithGit(options, { ...request, env: Object.fromEntries(passed) }, aside);
    const plan = planMounts(rules).filter(
      ({ path }) => shown === undefined || (path !== shown.at && !isBelow(path, shown.at)),
    );
    const overlays = plan
      .filter(({ kind }) => kind === "copy")
      .map(({ path, from = path }, at) => ({ path, from, at: join(aside, `${at}`) }));
    for (const { at } of overlays)
      for (const name of ["upper", "work", "shown"]) await mkdir(join(at, name), { recursive: true });
    const empty = plan.filter(({ kind }) => kind === "empty");
    for (const [index] of empty.entries()) await mkdir(join(aside, `empty-${index}`), { mode: 0o777 });
    const texts = await writeTexts(options.texts, aside);
    const shownAt = new Map([
      ...overlays.map(({ path, at }) => [path, join(at, "shown")] as const),
      ...empty.map(({ path }, index) => [path, join(aside, `empty-${index}`)] as const),
    ]);
    const another = shown === undefined ? [] : await showElsewhere(shown, options, plan, shownAt);
    const box = [
      "bwrap",
      ...identity(),
      "--die-with-parent",
      "--unshare-pid",
      "--unshare-ipc",
      ...(options.network === "none" ? ["--unshare-net"] : []),
      ...mountArguments(plan, shownAt),
      ...another,
      ...texts,
      "--chdir",
      inside(request.cwd),
      "--",
    ];
    const [program, ...args] = [...mounting(overlays), ...box, ...request.command.map(inside)];
    return { env, commandLine: [program!, ...args], folder: aside, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function rulesWithGit(
  options: BubblewrapOptions,
  request: CellRequest,
  aside: string,
): Promise<readonly PathRule[]> {
  const git = (await options.viewGit?.(checkoutAround(request.cwd, options.rules))) ?? [];
  return [...rulesForProgram(options, request, aside), ...git.map(showFolder)];
}

const showFolder = ({ path, from }: { readonly path: string; readonly from: string }): PathRule => ({
  path: realPath(path) ?? path,
  kind: "copy",
  from,
});

/** Temporary files have a separate folder in the sandbox, at the usual path. */
const PLACES_FOR_FILES: ReadonlySet<string> = new Set(["TMPDIR", "TMP", "TEMP"]);

/**
 * Mounts the checkout and everything below it again at the path where the program sees it. There it covers the user's
 * checkout, whose objects the checkout's history needs: they are mounted inside that history.
 */
async function showElsewhere(
  { folder, at }: ShownFolder,
  { commonDir, viewGit }: BubblewrapOptions,
  plan: readonly PathRule[],
  shownAt: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const own = plan.filter(({ path }) => path === folder || isBelow(path, folder));
  const mounts = own.flatMap(({ path, kind }) => [
    kind === "read" ? "--ro-bind" : "--bind",
    shownAt.get(path) ?? path,
    `${at}${path.slice(folder.length)}`,
  ]);
  const history = shownAt.get(join(folder, ".git"));
  // A view of git contains all objects that it shows.
  if (history === undefined || viewGit !== undefined || !isBelow(commonDir, at)) return mounts;
  const info = join(dirname(history), "upper", "objects", "info");
  await mkdir(info, { recursive: true });
  await writeFile(join(info, "alternates"), `${join(at, ".git", USER_OBJECTS)}\n`);
  return [...mounts, "--ro-bind", join(commonDir, "objects"), join(at, ".git", USER_OBJECTS)];
}

/** A folder in the git folder of a checkout. */
const USER_OBJECTS = "user-objects";

async function writeTexts(texts: BubblewrapOptions["texts"], aside: string): Promise<readonly string[]> {
  const args: string[] = [];
  for (const [index, [path, text]] of [...(texts ?? [])].entries()) {
    const file = join(aside, `text-${index}`);
    await writeFile(file, text, { mode: 0o600 });
    args.push("--ro-bind", file, path);
  }
  return args;
}

const isRoot = (): boolean => process.getuid!() === 0;

/**
 * Root without the capabilities that lead out of the sandbox: mounting, tracing, making devices, opening files by
 * handle.
 */
const KEPT_RIGHTS = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_SETGID",
  "CAP_SETUID",
];

const identity = (): readonly string[] =>
  isRoot()
    ? ["--cap-drop", "ALL", ...KEPT_RIGHTS.flatMap((right) => ["--cap-add", right])]
    : ["--unshare-user", "--uid", `${process.getuid!()}`, "--gid", `${process.getgid!()}`];

const MOUNT = `set -e
n=$1
shift
while [ "$n" -gt 0 ]; do
  mount -t overlay overlay -o "$1" "$2"
  shift 2
  n=$((n - 1))
done
exec "$@"`;

/** Mounts the copies in a separate namespace, and then runs the rest of the command line. */
function mounting(overlays: readonly { readonly from: string; readonly at: string }[]): readonly string[] {
  if (overlays.length === 0 && isRoot()) return [];
  const user = isRoot() ? [] : ["--user", "--map-root-user"];
  const how = isRoot() ? "redirect_dir=on" : "userxattr";
  const mounts = overlays.flatMap(({ from, at }) => [
    `${how},lowerdir=${escape(from)},upperdir=${join(at, "upper")},workdir=${join(at, "work")}`,
    join(at, "shown"),
  ]);
  return [
    "unshare",
    ...user,
    "--mount",
    "--propagation=private",
    "sh",
    "-c",
    MOUNT,
    "sh",
    `${overlays.length}`,
    ...mounts,
  ];
}

/** Escapes a path: in the options of an overlay, commas and colons separate values. */
const escape = (path: string): string => path.replaceAll(/[\\:,]/g, (mark) => `\\${mark}`);

function mountArguments(plan: readonly PathRule[], shownAt: ReadonlyMap<string, string>): readonly string[] {
  const closed: string[] = [];
  const mounts = plan.flatMap(({ path, kind }) => {
    switch (kind) {
      case "read":
        return path === "/" ? ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"] : ["--ro-bind", path, path];
      case "write":
        return ["--bind", path, path];
      case "copy":
      case "empty":
        return ["--bind", shownAt.get(path)!, path];
      case "hidden":
        if (!statSync(path).isDirectory()) return ["--ro-bind", "/dev/null", path];
        closed.push("--remount-ro", path);
        return ["--perms", "0700", "--tmpfs", path];
    }
  });
  return [...mounts, ...closed];
}
