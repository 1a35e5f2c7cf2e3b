/** A limit of time holds while something runs, not only between steps. What was done until then is kept. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createHost } from "../../../src/compose/host.ts";
import type { Event } from "../../../src/core/events/event.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { entries } from "../../../src/stdx/sorted-map.ts";
import { checkoutOf } from "../checkout.ts";
import { testInFull } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const CHECK = "grep -q right answer.txt";

function remand(root: string, ...args: string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: root,
    encoding: "utf8",
    // Far more than it takes, and less than what is told to sleep.
    timeout: 90_000,
  });
  return { status, out: stdout + stderr };
}

const loop = (root: string, check: string, agent: string, ...more: string[]) =>
  remand(
    root,
    "loop",
    "--goal",
    "say right",
    "--check",
    check,
    ...more,
    "--reporter",
    "minimal",
    "--",
    "sh",
    "-c",
    agent,
  );

async function journal(root: string): Promise<{ run: RunState; story: StoryState; events: Event[] }> {
  const look = (await createHost(process.env).openView(root))!;
  const run = look.state;
  const events: Event[] = [];
  for await (const { event } of look.lines(0)) events.push(event);
  await look.close();
  return { run, story: [...entries(run.stories)][0]![1], events };
}

function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

test("an agent that outlasts the story's time is ended, and its work is kept", { timeout: 120_000 }, async () => {
  const root = checkoutOf({ "answer.txt": "wrong\n" });
  const mark = `600.${process.pid}`;
  const ran = loop(root, CHECK, `echo half > half.txt; (setsid sleep ${mark}1 &); sleep ${mark}2`, "--time", "6s");
  expect(ran.status, ran.out).toBe(5);
  expect(processesWith(mark)).toEqual([]);
  const { story, events } = await journal(root);
  expect(story.escalation?.reason).toMatchObject({ type: "budget", budget: "time", limit: 6000 });
  expect(events.filter(({ type }) => type === "attempt.finished")).toMatchObject([
    { outcome: { type: "cut-short", budget: "time" }, changed: ["half.txt"] },
  ]);
  expect(story.counters).toMatchObject({ attempts: 0, timeouts: 0, agentFailures: 0, stepFailures: 0 });
  expect(existsSync(join(root, "half.txt"))).toBe(true);

  // With more time it goes on from there.
  const raised = remand(root, "answer", story.escalation!.id, "raise-budget", "--limit", "2h");
  expect(raised.status, raised.out).toBe(0);
  const again = loop(root, CHECK, "test -f half.txt && echo right > answer.txt");
  expect(again.status, again.out).toBe(0);
});

testInFull("so is a check, and what it took counts", { timeout: 120_000 }, async () => {
  const root = checkoutOf({ "answer.txt": "wrong\n" });
  const mark = `600.${process.pid}`;
  const ran = loop(root, `${CHECK} && sleep ${mark}3`, "echo right > answer.txt", "--time", "6s");
  expect(ran.status, ran.out).toBe(5);
  expect(processesWith(mark)).toEqual([]);
  const { story, events } = await journal(root);
  expect(events.filter(({ type }) => type === "work.interrupted")).toMatchObject([{ overrun: { budget: "time" } }]);
  expect(story.spent.timeMs).toBeGreaterThanOrEqual(6000);
  expect(story.gates.checks?.errors ?? 0).toBe(0);
  expect(story.escalation?.reason).toMatchObject({ type: "budget", budget: "time" });
});

testInFull("and the set-up of a worktree", { timeout: 120_000 }, async () => {
  const root = checkoutOf({ "answer.txt": "wrong\n" });
  const mark = `600.${process.pid}`;
  const ran = loop(
    root,
    CHECK,
    "echo right > answer.txt",
    "--worktree",
    "--time",
    "2s",
    "--set",
    `workspace.setup=sleep ${mark}4`,
  );
  expect(ran.status, ran.out).toBe(5);
  expect(processesWith(mark)).toEqual([]);
  expect((await journal(root)).story.counters).toMatchObject({ stepFailures: 0, attempts: 0 });
});

test("the time of the whole run holds over its stories", { timeout: 120_000 }, async () => {
  const root = checkoutOf({
    "answer.txt": "wrong\n",
    "remand.yaml": `version: 1
preset: goal
agents:
  developer: { use: command, command: sleep 600.${process.pid}5 }
gates:
  checks: { commands: ["${CHECK}"] }
limits: { run: { time: 6s } }
`,
    "stories/one.md":
      '---\ntitle: One\ntarget: "*"\n---\n\nSay right.\n\n## Acceptance criteria\n\n- [ ] it says right\n',
    "stories/two.md":
      '---\ntitle: Two\ntarget: "*"\n---\n\nSay right.\n\n## Acceptance criteria\n\n- [ ] it says right\n',
  });
  const ran = remand(root, "run", "--reporter", "minimal");
  expect(ran.status, ran.out).toBe(5);
  expect(processesWith(`600.${process.pid}`)).toEqual([]);
  const { run, events } = await journal(root);
  expect(run.escalation?.reason).toMatchObject({ type: "budget", budget: "run-time", limit: 6000 });
  const ended = events.flatMap((event) => (event.type === "attempt.finished" ? [event.outcome.type] : []));
  // On a busy machine the time may be over before either of them has an agent.
  expect(ended.every((outcome) => outcome === "cut-short")).toBe(true);
  expect(events.filter(({ type }) => type === "attempt.started")).toHaveLength(ended.length);
  expect(events.some(({ type }) => type === "step.failed")).toBe(false);
});

test("so is an agent that has cost what is left, where it says so while it works", { timeout: 120_000 }, async () => {
  const mark = `600.${process.pid}`;
  const usage = { input_tokens: 400_000, output_tokens: 1000 };
  const message = {
    id: "m1",
    model: "test-model",
    role: "assistant",
    content: [{ type: "text", text: "looking" }],
    usage,
  };
  const root = checkoutOf({
    "answer.txt": "wrong\n",
    "claude.sh": `#!/bin/sh
case "$*" in *"--max-budget-usd 1"*) ;; *) echo "no limit was passed on" >&2; exit 1 ;; esac
echo half > half.txt
cat <<'EOF'
${JSON.stringify({ type: "assistant", session_id: "s1", message })}
${JSON.stringify({ type: "assistant", session_id: "s1", message })}
${JSON.stringify({ type: "assistant", session_id: "s1", message: { ...message, id: "m2" } })}
${JSON.stringify({ type: "assistant", session_id: "s1", message: { ...message, id: "m3" } })}
EOF
sleep ${mark}6
`,
    "remand.yaml": `version: 1
preset: goal
agents:
  developer: { use: claude, command: ./claude.sh, model: test-model }
prices:
  test-model: { input: 1, output: 1 }
gates:
  checks: { commands: ["${CHECK}"] }
limits: { costUsd: 1 }
`,
    "stories/one.md":
      '---\ntitle: One\ntarget: "*"\n---\n\nSay right.\n\n## Acceptance criteria\n\n- [ ] it says right\n',
  });
  chmodSync(join(root, "claude.sh"), 0o755);
  const ran = remand(root, "run", "--reporter", "minimal");
  expect(ran.status, ran.out).toBe(5);
  expect(processesWith(mark)).toEqual([]);
  const { story, events } = await journal(root);
  // Three messages; the first came in two pieces and counts once.
  expect(events.filter(({ type }) => type === "attempt.finished")).toMatchObject([
    { outcome: { type: "cut-short", budget: "cost" }, costUsd: 1.203, changed: ["half.txt"] },
  ]);
  expect(story.escalation?.reason).toMatchObject({ type: "budget", budget: "cost", limit: 1 });
});
