/** Agents under the built supervisor: what they print, how they end, and what an engine that was killed leaves behind. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type AgentDispatch,
  type SupervisedAgents,
  createSupervisedAgents,
} from "../../../src/adapters/process/agent-processes.ts";
import { leftovers } from "../../../src/adapters/process/leftovers.ts";
import { readRequest, readStatus, writeRequest } from "../../../src/adapters/process/run-files.ts";
import { type ProcessSpec, runProcess } from "../../../src/adapters/process/run-process.ts";
import { identityOf, stateOfRun } from "../../../src/adapters/process/supervised-run.ts";

const DIST = fileURLToPath(new URL("../../../dist/adapters/process/", import.meta.url));
const PROGRAM = join(DIST, "supervisor.js");
const KEY = "a:3";
const ENV = { PATH: process.env["PATH"] ?? "", SECRET: "hunter2-hunter2" };

interface Place {
  readonly root: string;
  readonly runs: string;
  readonly agents: SupervisedAgents;
  spec(script: string, timeoutMs?: number): ProcessSpec & { command: readonly [string, ...string[]] };
  open(): Promise<AgentDispatch>;
}

function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "supervised-")));
  const runs = join(root, "runs");
  const agents = createSupervisedAgents({ folder: runs, cookie: "engine", program: PROGRAM });
  const processes = agents.forRole("developer", "the agent");
  onTestFinished(async () => {
    await agents.dropAllBut(new Set());
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    runs,
    agents,
    spec: (script, timeoutMs = 30_000) => ({
      command: ["sh", "-c", script],
      cwd: root,
      env: ENV,
      stdin: "the prompt\n",
      timeoutMs,
      graceMs: 200,
      sandbox: null,
    }),
    open: () => processes.open({ key: KEY, turn: 0 }),
  };
}

/** Another process asks for the same run, as an engine does. */
function engineIn({ root, runs, spec }: Place, script: string, timeoutMs?: number): ChildProcess {
  const file = join(root, "engine.mjs");
  writeFileSync(
    file,
    `import { createSupervisedAgents } from ${JSON.stringify(join(DIST, "agent-processes.js"))};
const agents = createSupervisedAgents(${JSON.stringify({ folder: runs, cookie: "engine", program: PROGRAM })});
const stop = new AbortController();
process.on("SIGUSR2", () => { stop.abort(); process.kill(process.pid, "SIGKILL"); });
const dispatch = await agents.forRole("developer", "the agent").open({ key: ${JSON.stringify(KEY)}, turn: 0 });
await dispatch.run(${JSON.stringify(spec(script, timeoutMs))}, { signal: stop.signal });
`,
  );
  return spawn(process.execPath, [file], { stdio: "inherit" });
}

const hasRun = (folder: string): boolean => existsSync(join(folder, "0", "started.json"));
const part = (runs: string): string => join(runs, readdirSync(runs)[0]!, "0");

async function until(what: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !what(); await sleep(10))
    if (Date.now() > end) expect.unreachable(what.toString());
}

async function killed(engine: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  const ended = new Promise((resolve) => engine.once("exit", resolve));
  engine.kill(signal);
  await ended;
}

describe("an agent under a supervisor", () => {
  test("ends with the same result and the same lines as without one", async () => {
    const here = place();
    const script = `cat; echo one; sleep 0.05; echo oops >&2; sleep 0.05; printf 'no end'; exit 3`;
    const lines: string[] = [];
    const dispatch = await here.open();
    const found = await dispatch.run(here.spec(script), { onLine: (line, stream) => lines.push(`${stream} ${line}`) });
    const plain: string[] = [];
    const wanted = await runProcess(here.spec(script), { onLine: (line, stream) => plain.push(`${stream} ${line}`) });
    expect({ ...found, durationMs: 0 }).toEqual({ ...wanted, durationMs: 0 });
    expect(found).toMatchObject({ exitCode: 3, output: "the prompt\none\noops\nno end" });
    expect(lines).toEqual(plain);
    const missing = await dispatch.run({ ...here.spec(""), command: ["no-such-program"] }, {});
    expect(missing).toMatchObject({ status: "failed-to-start", failure: { code: "ENOENT" } });
  });

  test("leaves files that only its user can read, and its environment in none of them", async () => {
    const here = place();
    const dispatch = await here.open();
    await dispatch.run(here.spec("echo done"), {});
    const folder = part(here.runs);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
    expect(files.sort()).toEqual(["output.0", "request.json", "started.json", "status.json", "stdin"]);
    for (const name of files) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
      expect(readFileSync(join(folder, name), "utf8")).not.toContain("hunter2");
    }
    expect(await here.agents.has(KEY)).toBe(true);
    await here.agents.drop("b" as never);
    expect(existsSync(folder)).toBe(true);
    await here.agents.drop("a" as never);
    expect([readdirSync(here.runs), existsSync(dispatch.folder)]).toEqual([[], false]);
  });

  test("is ended with all it started when the engine cancels it", async () => {
    const here = place();
    const stop = new AbortController();
    const dispatch = await here.open();
    const ending = dispatch.run(here.spec("trap '' INT TERM; (setsid sleep 300 &); echo up; sleep 300"), {
      signal: stop.signal,
      onLine: () => stop.abort(),
    });
    expect(await ending).toMatchObject({ status: "cancelled", output: "up\n" });
    expect(await leftovers(readRequest(part(here.runs))!.cookie)).toEqual([]);
    // What was ended on purpose is no result: the next engine starts it again.
    expect(await here.agents.has(KEY)).toBe(false);
  });

  test("is ended when its supervisor is killed, and counts as crashed", async () => {
    const here = place();
    const dispatch = await here.open();
    const kill = "kill -9 $PPID; sleep 300";
    expect(await dispatch.run(here.spec(kill), {})).toMatchObject({
      status: "exited",
      exitCode: null,
      signal: "SIGKILL",
    });
    expect(await leftovers(readRequest(part(here.runs))!.cookie)).toEqual([]);
    expect(await stateOfRun(part(here.runs))).toBe("lost");
    // The next one gets another supervisor.
    expect(await dispatch.run(here.spec("echo well"), {})).toMatchObject({ exitCode: 0, stdout: "well\n" });
  });

  test.each([
    ["the folder", "-rf $RUNS"],
    ["the files", "-f $RUNS/*/*/*"],
  ])("is ended when it deletes %s of its run, and counts as crashed", async (_, what) => {
    const here = place();
    const dispatch = await here.open();
    const deleting = `RUNS=${here.runs}; (setsid sleep 300 & echo $! > child); rm ${what}; sleep 300`;
    expect(await dispatch.run(here.spec(deleting), {})).toMatchObject({
      status: "exited",
      exitCode: null,
      signal: "SIGKILL",
    });
    const child = Number(readFileSync(join(here.root, "child"), "utf8"));
    await until(() => !existsSync(`/proc/${child}`));
  });

  test("may delete the folder of its run and print on: other agents of the engine go on", async () => {
    const here = place();
    const other = (await here.agents.forRole("critic", "the agent").open({ key: KEY, turn: 0 })).run(
      here.spec("while [ ! -e gone ]; do sleep 0.02; done; echo well"),
      {},
    );
    await until(() => existsSync(here.runs) && readdirSync(here.runs).some((name) => hasRun(join(here.runs, name))));
    const own = await here.open();
    const deleting = `rm -rf $(dirname ${own.folder})/none ${here.runs}/*/0/none; for d in ${here.runs}/*; do grep -q critic $d/dispatch.json || rm -rf $d; done; for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.02; done; touch gone; sleep 300`;
    expect(await own.run(here.spec(deleting), {})).toMatchObject({ status: "exited", signal: "SIGKILL" });
    expect(await other).toMatchObject({ exitCode: 0, stdout: "well\n" });
  });

  test("may print 100 MB: beginning and end are kept, and the disk is not filled", async () => {
    const here = place();
    const dispatch = await here.open();
    const many = `node -e 'const line = "x".repeat(999) + "\\n"; for (let i = 0; i < 1000; i++) process.stdout.write(line.repeat(100))'; echo last`;
    const found = await dispatch.run({ ...here.spec(`echo first; ${many}`), maxOutputBytes: 1_000_000 }, {});
    expect(found).toMatchObject({ status: "exited", exitCode: 0, truncated: true });
    expect([found.stdout.startsWith("first\n"), found.stdout.endsWith("\nlast\n")]).toEqual([true, true]);
    const folder = part(here.runs);
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(bytes).toBeLessThan(49 * 1024 * 1024);
    const { lostBytes } = readStatus(folder) as { lostBytes: number };
    expect(lostBytes).toBeGreaterThan(50_000_000);
  });
});

describe("an engine that is killed", () => {
  test("leaves an agent that goes on, and whose lines and result are found", async () => {
    const here = place();
    const script = `echo start >> starts; cat; echo one; while [ ! -e go ]; do sleep 0.02; done; echo two`;
    const engine = engineIn(here, script);
    await until(() => existsSync(join(here.root, "starts")));
    const { supervisor } = readRequest(part(here.runs))!;
    await killed(engine);
    expect(await here.agents.has(KEY)).toBe(true);
    const lines: string[] = [];
    const dispatch = await here.open();
    expect(dispatch.isResumed).toBe(true);
    const ending = dispatch.run(here.spec(script), { onLine: (line) => lines.push(line) });
    await until(() => lines.includes("one"));
    writeFileSync(join(here.root, "go"), "");
    expect(await ending).toMatchObject({ status: "exited", exitCode: 0, stdout: "the prompt\none\ntwo\n" });
    expect(lines).toEqual(["the prompt", "one", "two"]);
    expect(readFileSync(join(here.root, "starts"), "utf8")).toBe("start\n");
    // With no engine and nothing to hold, the supervisor is gone as well.
    await until(() => spawnSync("kill", ["-0", String(supervisor.pid)]).status !== 0);
    // Asked for once more, it is found once more.
    await dispatch.close();
    expect(await (await here.open()).run(here.spec(script), {})).toMatchObject({ stdout: "the prompt\none\ntwo\n" });
    expect(readFileSync(join(here.root, "starts"), "utf8")).toBe("start\n");
  });

  test("has the agent ended where another program plays the role by now", async () => {
    const here = place();
    const engine = engineIn(here, "echo up > started; sleep 300");
    await until(() => existsSync(join(here.root, "started")));
    const { cookie } = readRequest(part(here.runs))!;
    await killed(engine);
    const other = here.agents.forRole("developer", "another agent");
    expect(await here.agents.has(KEY)).toBe(false);
    const dispatch = await other.open({ key: KEY, turn: 0 });
    expect([dispatch.isResumed, await leftovers(cookie)]).toEqual([false, []]);
    expect(await dispatch.run(here.spec("echo again"), {})).toMatchObject({ stdout: "again\n" });
  });

  test("does not move the agent's deadline, nor keep its daemons alive", async () => {
    const here = place();
    const engine = engineIn(
      here,
      "(setsid sh -c 'trap \"\" INT TERM; sleep 300' &); echo up > started; sleep 300",
      1500,
    );
    await until(() => existsSync(join(here.root, "started")));
    const { cookie } = readRequest(part(here.runs))!;
    await killed(engine);
    expect(await leftovers(cookie)).not.toEqual([]);
    await until(() => readStatus(part(here.runs)) !== null);
    expect(readStatus(part(here.runs))).toMatchObject({ status: "timeout" });
    expect(await leftovers(cookie)).toEqual([]);
    expect(await (await here.open()).run(here.spec("echo again"), {})).toMatchObject({ status: "timeout", stdout: "" });
  });

  test("right after it asked for an end has its agent ended all the same", async () => {
    const here = place();
    const engine = engineIn(here, "echo up > started; sleep 300");
    await until(() => existsSync(join(here.root, "started")));
    await killed(engine, "SIGUSR2");
    await until(() => readStatus(part(here.runs)) !== null);
    expect(readStatus(part(here.runs))).toMatchObject({ status: "cancelled" });
    expect(await here.agents.has(KEY)).toBe(false);
    expect(await (await here.open()).run(here.spec("echo again"), {})).toMatchObject({ stdout: "again\n" });
  });

  test("before it could ask for the agent has not started one", async () => {
    const here = place();
    // Another run keeps the supervisor, so that it is still there when the request is looked at.
    const engine = engineIn(here, "echo up > started; while [ ! -e go ]; do sleep 0.02; done");
    await until(() => existsSync(join(here.root, "started")));
    const asked = join(here.runs, readdirSync(here.runs)[0]!, "1");
    spawnSync("mkdir", [asked]);
    writeRequest(asked, { ...readRequest(part(here.runs))!, cookie: "agent-that-never-was" });
    const looking = stateOfRun(asked);
    await killed(engine);
    expect(await looking).toBe("none");
    expect(readStatus(asked)).toEqual({ status: "not-started" });
    writeFileSync(join(here.root, "go"), "");
    await until(() => readStatus(part(here.runs)) !== null);
  });
});

test("a run is not taken for that of another process with the same number, nor of an earlier boot", async () => {
  const { root } = place();
  const self = await identityOf(process.pid);
  const state = (supervisor: object): Promise<string> => {
    writeRequest(root, {
      cookie: "c",
      supervisor: { ...self, cookie: "s", ...supervisor },
      startedAt: 0,
      endsAt: null,
      cellFolder: null,
    });
    return stateOfRun(root);
  };
  expect(await state({ startedAt: self.startedAt - 1 })).toBe("lost");
  expect(await state({ boot: "another" })).toBe("lost");
  writeFileSync(join(root, "started.json"), "{}");
  expect(await state({})).toBe("running");
});
