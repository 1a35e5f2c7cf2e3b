import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { assert } from "../../stdx/assert.ts";
import { openLaunch } from "./launch.ts";
import { COOKIE_VARIABLE, cookieValue } from "./leftovers.ts";
import { type RunRequest, writeInput, writeRequest, writeStatus } from "./run-files.ts";
import { NOTHING_RAN, type ProcessSpec, survivorsOf } from "./run-process.ts";
import { identityOf } from "./supervised-run.ts";
import type { SupervisorMessage } from "./supervisor.ts";

export interface SupervisorOptions {
  /** Holds the runs. Nothing else is kept there. */
  readonly folder: string;
  /** The cookie of what the engine starts. */
  readonly cookie: string | undefined;
  readonly program: string;
}

/** The supervisor of this process's agents, as the engine sees it. */
export interface Supervisor {
  /** Has it start a program. Resolves when it was asked to, which a crash of this process cannot take back. */
  start(path: string, spec: ProcessSpec): Promise<void>;
  notify(): void;
}

interface RunningSupervisor {
  readonly child: ChildProcess;
  readonly about: RunRequest["supervisor"];
}

/** One supervisor for all agents of this process, started with the first of them. */
export function createSupervisor({ folder, cookie: engineCookie, program }: SupervisorOptions): Supervisor {
  let current: Promise<RunningSupervisor> | null = null;

  async function begin(): Promise<RunningSupervisor> {
    const cookie = `supervisor-${randomBytes(8).toString("hex")}`;
    // Programs that it starts can read the environment it was started with, so there is nothing in it.
    const env = { PATH: process.env["PATH"] ?? "", [COOKIE_VARIABLE]: cookieValue(engineCookie, cookie) };
    const child = spawn(process.execPath, [program, folder], {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.once("exit", () => (current = null));
    // A message that cannot be sent any more: the run is lost, which who follows it will see.
    child.on("error", () => (current = null));
    // It keeps nothing waiting: who follows a run does.
    child.unref();
    child.channel?.unref();
    return { child, about: { ...(await identityOf(child.pid ?? 0)), cookie } };
  }

  return {
    async start(path, spec) {
      const { stdin, timeoutMs } = spec;
      assert(typeof stdin !== "function", "a program under a supervisor is told everything at its start");
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (stdin !== undefined) writeInput(path, stdin);
      const { child, about } = await (current ??= begin());
      const cookie = `agent-${randomBytes(8).toString("hex")}`;
      const startedAt = Date.now();
      const endsAt = Number.isFinite(timeoutMs) ? startedAt + timeoutMs : null;
      const opened = await openLaunch(spec, cookie);
      const cellFolder = "failure" in opened ? null : opened.cellFolder;
      writeRequest(path, { cookie, supervisor: about, startedAt, endsAt, cellFolder });
      if ("failure" in opened) {
        const { failure } = opened;
        writeStatus(path, { ...NOTHING_RAN, status: "failed-to-start", failure, durationMs: 0, lostBytes: 0 });
        return;
      }
      const message: SupervisorMessage = {
        type: "start",
        folder: path,
        timeoutMs: Number.isFinite(timeoutMs) ? timeoutMs : null,
        spec: { ...graceOf(spec), survivors: survivorsOf(spec), launch: opened.launch, cookie },
        hasInput: stdin !== undefined,
      };
      if (child.connected) child.send(message);
    },
    notify: () =>
      void current?.then(({ child }) => child.connected && child.send({ type: "cancel" } satisfies SupervisorMessage)),
  };
}

const graceOf = ({ graceMs }: ProcessSpec): Pick<ProcessSpec, "graceMs"> => (graceMs === undefined ? {} : { graceMs });
