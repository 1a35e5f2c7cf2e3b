/**
 * `remand run`, killed again and again. Every story must end as it does in an undisturbed run, nothing that
 * had finished may be done twice, and nothing may be left behind. `REMAND_KILLS=50 REMAND_STORIES=20` is the long form.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createHost } from "../../src/compose/host.ts";
import type { StoredEvent } from "../../src/ports/journal.ts";
import { chance } from "../simulation/chance.ts";
import { entries } from "../../src/stdx/sorted-map.ts";
import { checkoutOf } from "./checkout.ts";
import { rightAnswer } from "./right-answer.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const STORIES = Number(process.env["REMAND_STORIES"] ?? 6);
const KILLS = Number(process.env["REMAND_KILLS"] ?? 5);

const project = (): string =>
  checkoutOf(
    rightAnswer({
      stories: STORIES,
      attemptMs: 60,
      config: `gates:
  checks:
    commands: ["grep -q right answer.txt"]
concurrency: { developers: 3, checks: 3 }
`,
    }),
  );

function run(root: string): { status: number | null; output: string } {
  const ended = spawnSync(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, encoding: "utf8" });
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
      const child = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: start, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // By how long it takes here: on a busy machine a fixed time would be over before there is anything to kill.
      await sleep(tookMs * (0.1 + 0.3 * chance("kill", kill)));
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
    const interrupted = found.lines.filter(({ event }) => event.type === "work.interrupted").length;
    console.log(
      `${KILLS} kills, ${interrupted} things interrupted, ${found.lines.length} lines (${expected.lines.length} undisturbed)`,
    );
    expect(interrupted).toBeGreaterThan(0);
    expect(spawnSync(process.execPath, [MAIN, "verify"], { cwd: start }).status).toBe(0);
    expect(strays(start)).toEqual([]);
    // The places of accepted stories are gone; a story that waits for a person keeps its own.
    const waiting = Object.keys(expected.stories).filter((id) => id.startsWith("never-"));
    expect(readdirSync(join(start, ".remand/worktrees")).sort()).toEqual(waiting.sort());
  });

  test("a second one says who works there, and status works beside it", async () => {
    const root = project();
    writeFileSync(join(root, "script.yaml"), "version: 1\nattempts:\n  - { delay: 50s, say: never }\n");
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
