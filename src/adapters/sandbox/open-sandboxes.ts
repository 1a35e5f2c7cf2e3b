import { mkdir, readFile, writeFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { RemandError } from "../../core/events/error.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel, SandboxKind, Protection } from "../../core/events/isolation.ts";
import { NO_SANDBOX } from "../process/launch.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { bootId } from "../process/ancestry.ts";
import { runProcess } from "../process/run-process.ts";
import { commandLineOf, processTable } from "../process/process-table.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import { CONTAINER_ENGINES, type ContainerOptions, createContainer } from "./container.ts";
import {
  type PathRule,
  isBelow,
  type SandboxProject,
  type SandboxUser,
  checkFiles,
  privatePaths,
  settingsWithoutLogins,
  withheldNames,
} from "./path-rules.ts";
import { createSandboxExec } from "./sandbox-exec.ts";

export interface SandboxSettings {
  readonly mode: "auto" | "required" | "off";
  readonly use?: Exclude<SandboxKind, "none">;
  readonly image?: string;
  readonly network: "shared" | "none";
}

export interface SandboxRequest {
  readonly settings: SandboxSettings;
  readonly user: SandboxUser;
  readonly project: SandboxProject;
  /** The folder for the results of self-tests on this machine. */
  readonly userState: string;
  /** Files that are hidden from every program; default: none. */
  readonly hidden?: {
    /** Folders and files that no program sees. */
    readonly paths: readonly string[];
    /** Returns what programs see of git in a checkout: no object of a hidden file. */
    viewGit(
      top: string,
      history: "recent" | "commits",
    ): Promise<readonly { readonly path: string; readonly from: string }[]>;
  };
}

/** The sandboxes, by purpose. */
export interface Sandboxes {
  /** For agents and setup commands, which need the network. */
  readonly agents: Sandbox;
  /** For code that is being checked. */
  readonly checks: Sandbox;
  /** The path at which checks see their clean checkout: that of the user's checkout. `null`: its real path. */
  readonly shownAt: string | null;
  /** For checks with hidden files: what they start cannot communicate with other programs. */
  readonly hiddenChecks: Sandbox;
  /** Why there is no sandbox, or not the requested one; `null` if everything is as requested. */
  readonly problem: string | null;
}

export const NO_SANDBOXES: Sandboxes = {
  agents: NO_SANDBOX,
  checks: NO_SANDBOX,
  hiddenChecks: NO_SANDBOX,
  shownAt: null,
  problem: null,
};

/** Opens the sandboxes that the user wants and that work on this machine. */
export async function openSandboxes(request: SandboxRequest): Promise<Sandboxes> {
  const { settings, user, project } = request;
  if (settings.mode === "off") return NO_SANDBOXES;
  const kind = settings.use ?? (process.platform === "darwin" ? "sandbox-exec" : "bubblewrap");
  const { make, test } = await firstThatHolds(kind, request);
  if (test.problem !== null) {
    const problem = `${kind} cannot be used here: ${test.problem}`;
    if (settings.mode === "required") throw new RemandError("sandbox-missing", problem, fixFor(kind));
    return { ...NO_SANDBOXES, problem };
  }
  const hiddenPaths = request.hidden?.paths ?? [];
  const rules = [...privatePaths(project, user), ...hiddenPaths.map((path): PathRule => ({ path, kind: "hidden" }))];
  const allowed = [
    ...(user.docker ? ["docker"] : []),
    ...user.write.map((path) => `write ${path}`),
    ...user.variables.filter((name) => withheldNames({ ...user, variables: [] })(name)),
  ];
  const cut = (network: "shared" | "none") => (network === "none" ? (["network"] as const) : []);
  return {
    agents: make({ kind, held: test.held, allowed }, [...rules, ...checkFiles(user, project)], "agents"),
    checks: make({ kind, held: [...test.held, ...cut(settings.network)], allowed }, rules, "checks"),
    hiddenChecks: make({ kind, held: [...test.held, ...cut("none")], allowed }, rules, "hidden-checks"),
    shownAt: kind === "bubblewrap" && canCover(request) ? project.top : null,
    problem: null,
  };
}

/** Whether a clean checkout can cover the user's checkout: nothing that programs need may be below it. */
function canCover({ user, project: { top }, userState }: SandboxRequest): boolean {
  const needed = [userState, ...(user.home === undefined ? [] : [user.home]), ...user.read, ...user.write];
  return needed.every((path) => path !== top && !isBelow(path, top));
}

/** Returns the first engine whose sandbox works here; otherwise the last one, with its problem. */
async function firstThatHolds(
  kind: Exclude<SandboxKind, "none">,
  request: SandboxRequest,
): Promise<{ readonly make: Maker; readonly test: SelfTest }> {
  const tried: { readonly make: Maker; readonly test: SelfTest }[] = [];
  for (const engine of kind === "container" ? CONTAINER_ENGINES : [CONTAINER_ENGINES[0]]) {
    const make = makerOf(kind, request, engine);
    const test = await knownTest(request, `${kind} ${engine}`, () =>
      testSandbox((rules) => make(UNTESTED, rules, "agents"), testFolder(request)),
    );
    tried.push({ make, test });
    if (test.problem === null) break;
  }
  return tried.at(-1)!;
}

const UNTESTED: IsolationLevel = { kind: "bubblewrap", held: [], allowed: [] };

type Purpose = "agents" | "checks" | "hidden-checks";
type Maker = (level: IsolationLevel, rules: readonly PathRule[], of: Purpose) => Sandbox;

function makerOf(
  kind: Exclude<SandboxKind, "none">,
  { user, settings, hidden, project: { top, commonDir } }: SandboxRequest,
  engine: ContainerOptions["engine"],
): Maker {
  const isWithheld = withheldNames(user);
  const texts = settingsWithoutLogins(user.home);
  return (level, rules, of) => {
    const namedTempKind = of === "agents" ? "write" : "read";
    const network = of === "agents" ? "shared" : of === "checks" ? settings.network : "none";
    const options = { level, rules, isWithheld, network, top, namedTempKind } as const;
    const history = of === "agents" ? "recent" : "commits";
    const git = hidden === undefined ? {} : { viewGit: (checkout: string) => hidden.viewGit(checkout, history) };
    if (kind === "bubblewrap") return createBubblewrap({ ...options, ...git, texts, commonDir });
    if (kind === "sandbox-exec") return createSandboxExec(options);
    return createContainer({ ...options, image: settings.image ?? "", engine });
  };
}

const testFolder = ({ userState }: SandboxRequest): string => join(userState, "sandbox");

/** Returns a stored test result. It is valid until the machine restarts or another program makes the sandbox. */
async function knownTest(request: SandboxRequest, kind: string, test: () => Promise<SelfTest>): Promise<SelfTest> {
  const { settings, user } = request;
  const name = sha256(JSON.stringify([kind, settings.image, bootId(), process.getuid?.(), user.env["PATH"], VERSION]));
  const file = join(testFolder(request), `${name.slice(0, 16)}.json`);
  const known = await readFile(file, "utf8").then(
    (text) => JSON.parse(text) as SelfTest,
    () => null,
  );
  if (known !== null) return known;
  const found = await test();
  // Do not store a failure: the missing program may be installed in a minute.
  if (found.problem !== null || bootId() === "") return found;
  await mkdir(testFolder(request), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(found), { mode: 0o600 });
  return found;
}

/** The version of the self-test. */
const VERSION = 1;

/** Returns what a person can do about a sandbox that does not work. */
export function fixFor(kind: string): string {
  if (kind === "container") return "Start docker or podman, and name an image: sandbox: { use: container, image: … }.";
  if (kind === "sandbox-exec") return "Update macOS, or use a container: sandbox: { use: container, image: … }.";
  return "Install bubblewrap and util-linux (apt install bubblewrap). On Ubuntu 24.04 also allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0. In docker: --security-opt seccomp=unconfined, or run as root with --cap-add SYS_ADMIN.";
}

/** Makes a sandbox with the rules of the self-test. */
export type SandboxWith = (rules: readonly PathRule[]) => Sandbox;

interface SelfTest {
  readonly held: readonly Protection[];
  /** Why the sandbox cannot be used; `null` if it can. */
  readonly problem: string | null;
}

/**
 * Tests what a sandbox protects on this machine, by a program that tries to escape. A sandbox that does not start, or
 * lets the program read or write a protected file, is not used.
 */
export async function testSandbox(sandboxWith: SandboxWith, folder: string): Promise<SelfTest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = await mkdtemp(join(folder, "try-"));
  try {
    return await tryAll(sandboxWith, place);
  } finally {
    // Retry, because a process that escaped may still write there.
    await rm(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

async function tryAll(sandboxWith: SandboxWith, place: string): Promise<SelfTest> {
  const at = (name: string): string => join(place, name);
  const [secret, name] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
  for (const name of ["outside", "hidden", "copy", "work"]) await mkdir(at(name));
  for (const name of ["outside/file", "hidden/file", "copy/file"]) await writeFile(at(name), `${secret}\n`);
  const sandbox = sandboxWith([
    { path: at("outside"), kind: "read" },
    { path: at("hidden"), kind: "hidden" },
    { path: at("copy"), kind: "copy" },
  ]);
  const ended = await runProcess({
    command: ["/bin/sh", "-c", ATTEMPTS, "sh", place, `${process.pid}`, name],
    cwd: at("work"),
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: at("work") },
    sandbox,
    timeoutMs: 20_000,
  });
  const report = await readFile(at("work/report"), "utf8").catch(() => "");
  if (!report.includes("end")) {
    const said = ended.failure?.message ?? ended.output.trim().split("\n").at(-1) ?? "";
    return { held: [], problem: said === "" ? "a program in it wrote nothing" : said };
  }
  const broken: string[] = [];
  if ((await readFile(at("outside/file"), "utf8")) !== `${secret}\n`) broken.push("wrote outside of its folder");
  if (report.includes(secret)) broken.push("read a hidden file");
  if ((await readFile(at("copy/file"), "utf8")) !== `${secret}\n`) broken.push("wrote through a copy");
  if (sandbox.level.kind === "bubblewrap" && !report.includes("copied")) broken.push("could not write to a copy");
  if (broken.length > 0) return { held: [], problem: `a program in it ${broken.join(", and ")}` };
  const hasOrphan = await outlived(name, at("work/orphan"));
  const seesEngine = report.includes("sees the engine");
  return { held: ["files", ...(hasOrphan || seesEngine ? [] : (["processes"] as const))], problem: null };
}

const ATTEMPTS = `
cd "$1/work"
echo broken > "$1/outside/file"
cat "$1/hidden/file" >> report
echo changed > "$1/copy/file" && grep -q changed "$1/copy/file" && echo copied >> report
{ [ -r "/proc/$2/environ" ] && kill -0 "$2" && grep -q node "/proc/$2/cmdline"; } && echo sees the engine >> report
setsid env -i /bin/sh -c 'i=0; while [ $i -lt 100 ]; do echo >> orphan; sleep 0.05; i=$((i + 1)); done' "$3" > /dev/null 2>&1 &
while [ ! -s orphan ]; do sleep 0.01; done
echo end >> report
`;

/** Whether the process that the program left behind still runs. */
async function outlived(name: string, file: string): Promise<boolean> {
  const table = await processTable();
  if (table !== null) return table.some(({ pid }) => commandLineOf(pid).includes(name));
  const sizeOf = async (): Promise<number> => (await readFile(file)).length;
  const before = await sizeOf();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return (await sizeOf()) > before;
}
