import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel, SandboxKind } from "../../core/events/isolation.ts";
import { NO_SANDBOX } from "../process/launch.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { bootId } from "../process/ancestry.ts";
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
import { type SelfTest, testSandbox } from "./self-test.ts";

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
  /** Where what was found out about this machine is kept. */
  readonly userState: string;
  /** Files that are kept from every program; absent: none are. */
  readonly hidden?: {
    /** Folders and files that nothing sees. */
    readonly paths: readonly string[];
    /** What is shown of git in a checkout: no object of a hidden file. */
    viewGit(
      top: string,
      history: "recent" | "commits",
    ): Promise<readonly { readonly path: string; readonly from: string }[]>;
  };
}

/** Where programs run, by what they are there for. */
export interface Sandboxes {
  /** Agents, and the set-up, which need the network. */
  readonly agents: Sandbox;
  /** What runs verified code. */
  readonly checks: Sandbox;
  /** Where programs in them find clean checkouts: at the path of the user's own. `null`: where those are. */
  readonly shownAt: string | null;
  /** The same for checks with hidden files: what they start talks to no other program. */
  readonly hiddenChecks: Sandbox;
  /** Why there is none, or not the one that was asked for; `null` where all is as it should be. */
  readonly problem: string | null;
}

export const NO_SANDBOXES: Sandboxes = {
  agents: NO_SANDBOX,
  checks: NO_SANDBOX,
  hiddenChecks: NO_SANDBOX,
  shownAt: null,
  problem: null,
};

/** The sandbox that works on this machine, as the user wants it. */
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

/** What programs need is not below the user's checkout, which a clean one would cover. */
function canCover({ user, project: { top }, userState }: SandboxRequest): boolean {
  const needed = [userState, ...(user.home === undefined ? [] : [user.home]), ...user.read, ...user.write];
  return needed.every((path) => path !== top && !isBelow(path, top));
}

/** Of several programs that make such a sandbox, the first that holds here; else the last, with its problem. */
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
    const named = of === "agents" ? "write" : "read";
    const network = of === "agents" ? "shared" : of === "checks" ? settings.network : "none";
    const options = { level, rules, isWithheld, network, top, named } as const;
    const history = of === "agents" ? "recent" : "commits";
    const git = hidden === undefined ? {} : { viewGit: (checkout: string) => hidden.viewGit(checkout, history) };
    if (kind === "bubblewrap") return createBubblewrap({ ...options, ...git, texts, commonDir });
    if (kind === "sandbox-exec") return createSandboxExec(options);
    return createContainer({ ...options, image: settings.image ?? "", engine });
  };
}

const testFolder = ({ userState }: SandboxRequest): string => join(userState, "sandbox");

/** What was found out stays true until the machine starts again, or another program makes the sandbox. */
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
  // One that fails may be installed in a minute.
  if (found.problem !== null || bootId() === "") return found;
  await mkdir(testFolder(request), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(found), { mode: 0o600 });
  return found;
}

/** Of the self-test. */
const VERSION = 1;

/** What a person can do about a sandbox that does not work. */
export function fixFor(kind: string): string {
  if (kind === "container") return "Start docker or podman, and name an image: sandbox: { use: container, image: … }.";
  if (kind === "sandbox-exec") return "Update macOS, or use a container: sandbox: { use: container, image: … }.";
  return "Install bubblewrap and util-linux (apt install bubblewrap). On Ubuntu 24.04 also allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0. In docker: --security-opt seccomp=unconfined, or run as root with --cap-add SYS_ADMIN.";
}
