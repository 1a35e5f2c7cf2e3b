import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { evidenceId, storyId, treeId } from "../../../src/core/events/ids.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { blameFailure } from "../../../src/engine/perform/blame.ts";
import { newStory, UNJUDGED } from "../../../src/fold/new-state.ts";
import { identities, judgement, story } from "../../kit/story-world.ts";

const ID = storyId("a");
const LINES = Array.from({ length: 12 }, (_, at) => `const v${at} = ${at};`);
const TEXT = LINES.flatMap((line) => [line, "", "", "", "", "", "", ""]).join("\n");
const diff = LINES.map(
  (line, at) => `@@ -${at * 8 + 1},1 +${at * 8 + 1},1 @@\n-${line.replace(" =", "  =")}\n+${line}\n`,
);
const DIFF = `diff --git a/src/a.js b/src/a.js\n--- a/src/a.js\n+++ b/src/a.js\n${diff.join("")}`;
const OUTPUT = [
  "TAP version 13",
  "not ok 1 - adds",
  "  ---",
  "  location: '/work/test/a.test.js:3:1'",
  "  failureType: 'testCodeFailure'",
  "  error: 'Expected values to be strictly equal: 1 !== 2'",
  "  stack: |-",
  "    TestContext.<anonymous> (file:///work/test/a.test.js:3:1)",
  "  ...",
  "1..1",
  "# fail 1",
].join("\n");

interface Given {
  readonly checkMs: number;
  /** How long each run of the search takes. */
  readonly runMs?: number;
  readonly command?: string;
  readonly suites?: number;
  readonly diff?: string;
  readonly state?: Partial<StoryState>;
  readonly verdict?: Partial<Judgement>;
}

/** Blames a failed check, in a time that passes only while the search runs something. */
async function blame({ checkMs, runMs = 100, command = "node --test", suites = 1, ...given }: Given) {
  let now = 0;
  let opened = 0;
  const commands: string[] = [];
  const run = {
    check: command,
    command,
    environment: "local",
    result: "fail",
    exitCode: 1,
    details: "",
    durationMs: checkMs,
  };
  const failed = {
    ...judgement("checks", "t1", "fail"),
    runs: [run],
    evidence: [evidenceId("a".repeat(64))],
    ...given.verdict,
  } as Judgement;
  const state: StoryState = {
    ...newStory(story("a"), 0, 0),
    policy: presetPolicy("goal"),
    failing: { gate: "checks", blame: null, approved: false, restored: false },
    gates: { checks: { ...UNJUDGED, last: failed } },
    counters: { ...newStory(story("a"), 0, 0).counters },
    ...given.state,
  };
  const checkout = {
    path: "/work",
    set: (_: string, texts: ReadonlyMap<string, string | null>) =>
      Promise.resolve(treeId([...texts.values()].join("|"))),
    paths: () => Promise.resolve(["src/a.js", "test/a.test.js"]),
    text: (path: string) => (path === "src/a.js" ? TEXT : path === "test/a.test.js" ? "import '../src/a.js';" : null),
    close: () => Promise.resolve(),
  };
  const events: Event[] = [];
  const ledger = {
    story: () => state,
    append: (_: unknown, added: readonly Event[]) => Promise.resolve(events.push(...added) > 0),
    mayWrite: () => true,
    catchUp: () => Promise.resolve(),
  };
  const world = {
    clock: { now: () => now },
    watcher: { onOutput: () => undefined },
    evidence: { read: () => Promise.resolve(OUTPUT) },
    workspace: {
      prepare: () => Promise.resolve({ path: "/work", base: "base" }),
      diff: () => Promise.resolve(given.diff ?? DIFF),
      fileAt: () => Promise.resolve(TEXT.replaceAll(" =", "  =")),
    },
    blameSearch: {
      experimentRunner: { open: () => Promise.resolve((opened++, checkout)) },
      trial: {
        run(request: { command: string; timeoutMs: number }) {
          const tookMs = Math.min(runMs, request.timeoutMs);
          now += tookMs;
          commands.push(request.command);
          return Promise.resolve({ passed: false, timedOut: tookMs < runMs, output: OUTPUT, tookMs });
        },
      },
      limits: { runs: 30, timeMs: 300_000, suites },
      environments: [],
    },
  };
  const context = {
    command: { type: "find-blame", story: ID, gate: "checks" },
    ledger,
    world,
    signal: new AbortController().signal,
  };
  await blameFailure(context as never);
  const found = events.find((event) => event.type === "blame.found");
  return { blame: found!.blame, tookMs: now, commands, opened };
}

describe("the time of a blame search while an agent waits", () => {
  test("is at most the duration of the failed check, over all of its runs", async () => {
    const { tookMs, commands } = await blame({ checkMs: 29_000, runMs: 9000 });
    expect(commands.length).toBeGreaterThan(1);
    expect(tookMs).toBeLessThanOrEqual(29_000);
    const long = await blame({ checkMs: 29_000, runMs: 9000, suites: 2 });
    expect(long.tookMs).toBeGreaterThan(29_000);
    expect(long.tookMs).toBeLessThanOrEqual(58_000);
  });

  test("ends a run that would last longer, and says so", async () => {
    const { tookMs, blame: found } = await blame({ checkMs: 29_000, runMs: 90_000 });
    expect(tookMs).toBe(29_000);
    expect(found.explanation).toContain("No time was left to run the failing tests again");
  });

  test("is 10 s if the check failed at once", async () => {
    const { tookMs, commands } = await blame({ checkMs: 300, runMs: 2500 });
    expect(commands.length).toBeGreaterThan(2);
    expect(tookMs).toBeLessThanOrEqual(10_000);
  });

  test("is zero if each run would be the whole check", async () => {
    const { commands, blame: found } = await blame({ checkMs: 29_000, command: "npm run lint && node --test" });
    expect(commands).toEqual([]);
    expect(found.basis).toBe("ranked");
    const quick = await blame({ checkMs: 2000, runMs: 2000, command: "npm run lint && node --test" });
    expect(quick.commands.length).toBeGreaterThan(2);
  });
});

describe("no search runs", () => {
  const failing = ["test/a.test.js > adds"];
  const verdict = { identities: identities(failing) };

  test("for a failure that the base has too", async () => {
    const { blame: found, opened } = await blame({ checkMs: 900, verdict, state: { preExisting: failing } });
    expect([opened, found.verdict, found.testRuns]).toEqual([0, "unmet", 0]);
    expect(found.explanation).toContain("before the work began");
  });

  test("except for failures that are new, not all listed, or after a pass", async () => {
    const more = { identities: identities([...failing, "test/a.test.js > subtracts"]) };
    expect((await blame({ checkMs: 900, verdict: more, state: { preExisting: failing } })).opened).toBe(1);
    const unlisted = { identities: { ...identities(failing), unlisted: 1 } };
    expect((await blame({ checkMs: 900, verdict: unlisted, state: { preExisting: failing } })).opened).toBe(1);
    const last = { ...judgement("checks", "t1", "fail"), ...verdict, runs: [], evidence: [evidenceId("a".repeat(64))] };
    const gates = { checks: { ...UNJUDGED, last, lastPass: treeId("t0") } };
    expect((await blame({ checkMs: 900, state: { preExisting: failing, gates } })).opened).toBe(1);
  });

  test("if nothing changed", async () => {
    const { blame: found, opened } = await blame({ checkMs: 900, diff: "" });
    expect([opened, found.verdict]).toEqual([0, "unknown"]);
  });
});
