/**
 * `remand run`, killed again and again. Every story must end as it does in an undisturbed run, nothing that
 * had finished may be done twice, and nothing may be left behind. `REMAND_KILLS=50 REMAND_STORIES=20` is the long form.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createHost } from "../../../src/compose/host.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { chance } from "../../simulation/chance.ts";
import { entries } from "../../../src/stdx/sorted-map.ts";
import { checkoutOf } from "../checkout.ts";
import { rightAnswer } from "../right-answer.ts";
import { runsAll } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const STORIES = Number(process.env["REMAND_STORIES"] ?? (runsAll ? 6 : 4));
const KILLS = Number(process.env["REMAND_KILLS"] ?? (runsAll ? 5 : 3));

/**
 * Each call of the agent improves what the one before left: two of three stories are right after the second. It notes
 * its start and its end, with its story and what it found, which no two calls of an undisturbed run have in common.
 */
const AGENT = `call="\${REMAND_KEY%:*} from $(cat answer.txt)"
echo "start $call" >> "$AGENT_LOG"
sleep 0.4
case "$call" in
  never-*) echo "$(cat answer.txt)-wrong" > answer.txt ;;
  *wrong*) echo right > answer.txt ;;
  *) echo wrong > answer.txt ;;
esac
echo "end $call" >> "$AGENT_LOG"
`;

const project = (): string =>
  checkoutOf({
    ...rightAnswer({ stories: STORIES, attemptMs: 0, config: "" }),
    "agent.sh": AGENT,
    "remand.yaml": `version: 1
preset: goal
env: [AGENT_LOG]
agents:
  developer: { command: "sh agent.sh" }
gates:
  checks:
    commands: ["grep -qx right answer.txt"]
concurrency: { developers: 3, checks: 3 }
`,
  });

/** How often each call was begun, and how often it was begun again after it had ended. */
function callsIn(root: string): { starts: Map<string, number>; finishedRepeated: number } {
  const starts = new Map<string, number>();
  const ended = new Set<string>();
  let finishedRepeated = 0;
  for (const line of linesIn(logOf(root))) {
    const call = line.slice(line.indexOf(" ") + 1);
    if (line.startsWith("end")) ended.add(call);
    else {
      starts.set(call, (starts.get(call) ?? 0) + 1);
      if (ended.has(call)) finishedRepeated++;
    }
  }
  return { starts, finishedRepeated };
}

const withLog = (root: string): NodeJS.ProcessEnv => ({
  ...process.env,
  AGENT_LOG: logOf(root),
  // The log is outside of what an agent in a sandbox can write to.
  REMAND_SANDBOX: "off",
});

function run(root: string): { status: number | null; output: string } {
  const ended = spawnSync(process.execPath, [MAIN, "run", "--reporter", "minimal"], {
    cwd: root,
    encoding: "utf8",
    env: withLog(root),
  });
  return { status: ended.status, output: ended.stdout + ended.stderr };
}

async function outcome(root: string): Promise<{ stories: Record<string, unknown>; lines: StoredEvent[] }> {
  const look = (await createHost(process.env).openView(root))!;
  const stories: Record<string, unknown> = {};
  for (const [id, state] of entries(look.state.stories)) {
    const worked = state.attempts.filter((attempt) => attempt.outcome === "ready");
    stories[id] = {
      ending: state.ending?.how ?? null,
      asks: state.escalation?.reason.type ?? null,
      failures: state.gates.checks?.failuresEver,
      trees: worked.map((attempt) => attempt.tree),
    };
  }
  const lines: StoredEvent[] = [];
  for await (const line of look.lines(0)) lines.push(line);
  await look.close();
  return { stories, lines };
}

const logOf = (root: string): string => join(root, "..", `${basename(root)}.log`);
const linesIn = (file: string): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);

/** Waits for the next start of an agent, or for the end of the run. */
async function agentStarted(root: string, child: ChildProcess): Promise<void> {
  const startsNow = (): number => linesIn(logOf(root)).filter((line) => line.startsWith("start")).length;
  const before = startsNow();
  while (child.exitCode === null && startsNow() === before) await sleep(10);
}

async function hasDiedTwice(root: string): Promise<boolean> {
  const look = await createHost(process.env).openView(root);
  const stories = look === null ? [] : [...entries(look.state.stories)];
  await look?.close();
  return stories.some(([, { counters }]) => (counters.engineDeaths?.times ?? 0) >= 2);
}

/** All processes that work in the folder. */
function strays(root: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(root);
    } catch {
      return false;
    }
  });
}

describe("remand run", () => {
  test(`${STORIES} stories, killed ${KILLS} times, end as if nothing had happened`, async () => {
    const start = project();
    const quiet = join(dirname(start), "quiet");
    cpSync(start, quiet, { recursive: true });
    const begun = performance.now();
    const undisturbed = run(quiet);
    const tookMs = performance.now() - begun;
    expect(undisturbed.status, undisturbed.output).toBe(4);
    const expected = await outcome(quiet);

    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], {
        cwd: start,
        stdio: "ignore",
        env: withLog(start),
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // By how long it takes here: on a busy machine a fixed time would be over before there is anything to kill.
      if (kill % 2 === 0) await sleep(tookMs * (0.1 + 0.3 * chance("kill", kill)));
      else await agentStarted(start, child);
      // While an agent works, right after its end, or when its result has just been written down.
      if (kill % 2 === 1) await sleep(700 * chance("kill", kill));
      // A third death in the same step is no chance any more: a person would be asked.
      while (child.exitCode === null && (await hasDiedTwice(start))) await sleep(50);
      child.kill("SIGKILL");
      await ended;
    }
    const last = run(start);
    expect(last.status, last.output).toBe(4);
    const found = await outcome(start);
    expect(found.stories).toEqual(expected.stories);
    const finished = found.lines.flatMap(({ story, event }) =>
      event.type === "attempt.finished" ? [`${story} ${event.attempt}`] : [],
    );
    expect(new Set(finished).size).toBe(finished.length);
    // Were the kills felt at all? Otherwise this shows nothing.
    const count = (type: string): number => found.lines.filter(({ event }) => event.type === type).length;
    const [interrupted, resumed] = [count("work.interrupted"), count("work.resumed")];
    const { starts, finishedRepeated } = callsIn(start);
    const more = [...starts].filter(([, times]) => times > 1);
    console.log(
      `${KILLS} kills, ${interrupted} things interrupted, ${resumed} agents found again, ${finishedRepeated} finished agents repeated of ${starts.size}, ${found.lines.length} lines (${expected.lines.length} undisturbed)`,
    );
    expect(interrupted + resumed).toBeGreaterThan(0);
    // No agent's program was started twice, finished or not.
    expect({ finishedRepeated, more }).toEqual({ finishedRepeated: 0, more: [] });
    expect([...starts.keys()].sort()).toEqual([...callsIn(quiet).starts.keys()].sort());
    expect(readdirSync(join(start, ".remand/runs"))).toEqual([]);
    expect(spawnSync(process.execPath, [MAIN, "verify"], { cwd: start }).status).toBe(0);
    expect(strays(start)).toEqual([]);
    // The places of accepted stories are gone; a story that waits for a person keeps its own.
    const waiting = Object.keys(expected.stories).filter((id) => id.startsWith("never-"));
    expect(readdirSync(join(start, ".remand/worktrees")).sort()).toEqual(waiting.sort());
  });

  test("a second one says who works there, and status works beside it", async () => {
    const root = project();
    const config = readFileSync(join(root, "remand.yaml"), "utf8");
    writeFileSync(join(root, "remand.yaml"), config.replace("sh agent.sh", "sleep 50"));
    const child = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    while (!existsSync(join(root, ".remand/journal.db.owner"))) await sleep(50);
    const second = run(root);
    const status = spawnSync(process.execPath, [MAIN, "status", "--json"], { cwd: root, encoding: "utf8" });
    child.kill("SIGTERM");
    expect(await ended).toBe(143);
    expect(second.status).toBe(1);
    expect(second.output).toContain(`process ${child.pid}`);
    expect(JSON.parse(status.stdout)).toMatchObject({ schema: "remand.status/1" });
  });
});
