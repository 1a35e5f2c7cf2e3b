import type { Cell, CellRequest, Sandbox } from "../../ports/sandbox.ts";
import type { IsolationLevel } from "../../core/events/isolation.ts";
import { checkoutAround } from "./checkout-around.ts";
import type { PathRule } from "./mount-plan.ts";

export interface ContainerOptions {
  readonly level: IsolationLevel;
  readonly image: string;
  readonly rules: readonly PathRule[];
  isWithheld(name: string): boolean;
  readonly network: "shared" | "none";
  /** `docker` or `podman`. */
  readonly program?: string;
}

/**
 * A container of the user's image. It shows only what a program may write or read; the image brings everything else,
 * so hidden paths need no rule, and a copy is a read-only folder. It is removed with the program.
 */
export function createContainer(options: ContainerOptions): Sandbox {
  return {
    level: { ...options.level, kind: "container" },
    open: (request) => Promise.resolve(openCell(options, request)),
  };
}

function openCell(options: ContainerOptions, { command, cwd, env, writes }: CellRequest): Cell {
  const { image, rules, network, program = "docker" } = options;
  if (image === "") throw new Error("no image is named: sandbox.image");
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => !options.isWithheld(name)));
  const shown = (paths: readonly string[], how: string): readonly string[] =>
    [...new Set(paths)].flatMap((path) => ["--volume", `${path}:${path}${how}`]);
  const read = rules.filter(({ kind }) => kind === "read").map(({ path }) => path);
  const user = process.getuid === undefined ? [] : ["--user", `${process.getuid()}:${process.getgid!()}`];
  return {
    // The client itself needs the variables that lead to its engine.
    env: { ...env },
    commandLine: [
      program,
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
      ...shown(read, ":ro"),
      ...shown([checkoutAround(cwd, rules), ...writes], ""),
      // By their names alone: values would be seen in the list of processes.
      ...Object.keys(passed).flatMap((name) => ["--env", name]),
      "--workdir",
      cwd,
      image,
      ...command,
    ],
    close: () => Promise.resolve(),
  };
}
