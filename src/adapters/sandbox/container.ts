import { statSync } from "node:fs";
import type { Cell, CellRequest, Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel } from "../../core/events/isolation.ts";
import { type PathRule, isBelow, planMounts, type RuleOptions, rulesForProgram } from "./path-rules.ts";

export const CONTAINER_ENGINES = ["docker", "podman"] as const;

export interface ContainerOptions extends RuleOptions {
  readonly level: IsolationLevel;
  readonly image: string;
  isWithheld(name: string): boolean;
  readonly network: "shared" | "none";
  readonly engine: (typeof CONTAINER_ENGINES)[number];
}

/**
 * A container of the user's image, removed with the program. The image provides the tools; of the user's files, only
 * what the program may read or write is mounted. Only podman supports writable copies; docker shows them read-only.
 */
export function createContainer(options: ContainerOptions): Sandbox {
  return {
    level: { ...options.level, kind: "container" },
    open: (request) => Promise.resolve(openCell(options, request)),
  };
}

function openCell(options: ContainerOptions, request: CellRequest): Cell {
  const { image, network, engine } = options;
  const { command, cwd, env } = request;
  if (image === "") throw new Error("no image is named: sandbox.image");
  const passed = Object.keys(env).filter((name) => !options.isWithheld(name) && !TOOLS_OF_THE_IMAGE.has(name));
  const user = process.getuid === undefined ? [] : ["--user", `${process.getuid()}:${process.getgid!()}`];
  return {
    // The client needs the variables that lead to its engine.
    env: { ...env },
    commandLine: [
      engine,
      "run",
      "--rm",
      "--interactive",
      "--init",
      "--security-opt",
      "no-new-privileges",
      "--cap-drop",
      "ALL",
      "--network",
      network === "none" ? "none" : "host",
      ...user,
      ...mountArguments(options, request),
      // Only by name: values would be visible in the process list.
      ...passed.flatMap((name) => ["--env", name]),
      "--workdir",
      cwd,
      image,
      ...command,
    ],
    close: () => Promise.resolve(),
  };
}

/** The image decides where programs are found. */
const TOOLS_OF_THE_IMAGE: ReadonlySet<string> = new Set(["PATH"]);

function mountArguments({ engine, ...options }: ContainerOptions, request: CellRequest): readonly string[] {
  // The image has its own root folder.
  const plan = planMounts([...rulesForProgram(options, request, "")].filter(({ path }) => path !== "/"));
  const named = new Set(request.copies);
  const isShown = ({ path, kind }: PathRule): boolean =>
    kind === "read" ||
    kind === "write" ||
    (kind === "copy" && (named.has(path) || plan.some((above) => isBelow(path, above.path) && SHOWS.has(above.kind))));
  const shown = plan.filter(isShown);
  return plan.flatMap((rule) => {
    const { path, kind } = rule;
    if (kind === "read") return ["--volume", `${path}:${path}:ro`];
    if (kind === "write") return ["--volume", `${path}:${path}`];
    if (kind === "copy" && isShown(rule)) return ["--volume", `${path}:${path}:${engine === "podman" ? "O" : "ro"}`];
    if (kind === "hidden" && !shown.some((above) => isBelow(path, above.path))) return [];
    // Containers have their own.
    if (path === "/dev/shm") return [];
    return statSync(path).isDirectory() ? ["--tmpfs", `${path}${EMPTY[engine]}`] : ["--volume", `/dev/null:${path}:ro`];
  });
}

/** Copies below such a folder are mounted; a copy elsewhere, such as HOME, is the image's own. */
const SHOWS: ReadonlySet<PathRule["kind"]> = new Set(["read", "hidden"]);

/** By default podman fills a temporary folder with the files that it covers. */
const EMPTY = { docker: "", podman: ":notmpcopyup" } as const;
