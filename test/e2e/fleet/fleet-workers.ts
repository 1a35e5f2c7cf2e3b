import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** A worker of the built program that is started again whenever it ends, as a supervisor would do, until it is told to end. */
export interface FleetWorker {
  readonly name: string;
  /** Everything that its processes have said. */
  readonly said: () => string;
  /** kill -9; it is started again at once. */
  kill(): void;
  stop(signal: "SIGSTOP" | "SIGCONT"): void;
  /** SIGTERM, as soon as it works, and how it ended. */
  drain(): Promise<number | null>;
  /** kill -9, for good. */
  end(): void;
}

export function startWorker(
  name: string,
  { db, remote, folder, more = [] }: { db: string; remote: string; folder: string; more?: readonly string[] },
): FleetWorker {
  let said = "";
  let isOver = false;
  let child: ChildProcess;
  let ended: Promise<number | null>;
  const start = (): void => {
    const args = [MAIN, "worker", "--remote", remote, "--name", name, "--folder", join(folder, name), "--poll", "50ms"];
    child = spawn(process.execPath, [...args, ...more], {
      env: { ...process.env, REMAND_DB: db },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (data) => (said += String(data)));
    ended = new Promise((resolve) =>
      child.once("exit", (code) => {
        said += `(ended with ${code})\n`;
        if (!isOver) start();
        resolve(code);
      }),
    );
  };
  start();
  return {
    name,
    said: () => said,
    kill: () => void child.kill("SIGKILL"),
    stop: (signal) => void child.kill(signal),
    end: () => {
      isOver = true;
      child.kill("SIGKILL");
    },
    drain: async () => {
      while (!said.slice(Math.max(0, said.lastIndexOf("(ended"))).includes("takes jobs")) await sleep(100);
      isOver = true;
      child.kill("SIGTERM");
      return ended;
    },
  };
}
