import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type VirtualClock, createVirtualClock } from "../../kit/virtual-clock.ts";
import { createGithubForge } from "../../../src/adapters/forge/github-forge.ts";
import { createCiCommands, createCiGate } from "../../../src/gates/ci/ci-gate.ts";
import { createCiForge } from "../../../src/gates/ci/ci-forge.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import type { Judgement } from "../../../src/core/gates/gate.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Evidence } from "../../../src/ports/evidence.ts";
import type { Forge, ForgeCheck, ForgeLog } from "../../../src/ports/forge.ts";
import type { GateRequest } from "../../../src/ports/gate.ts";
import type { Integration } from "../../../src/ports/workspace.ts";
import { judgementSchema } from "../../../src/core/schemas/gate-result.ts";
import { describeGate, gateRequest, memoryEvidence } from "../../contract/gate.ts";
import { type GithubServer, startGithubServer } from "../../kit/github-server.ts";
import { judgementOf } from "../../kit/reviewers.ts";

const TEST_LOG =
  "> vitest run\n FAIL  test/cart.test.ts > adds\nAssertionError: expected 3 to be 4\n Tests  1 failed\n";
const env = { PATH: process.env["PATH"] ?? "" };
const clock = { now: () => performance.now(), sleep: () => Promise.resolve() };

const byCommand = (commands: readonly string[], evidence: Evidence = memoryEvidence()) =>
  createCiGate({
    service: createCiCommands({ commands: commands.map((run) => ({ name: run, run })), env }),
    evidence,
    clock,
  });

const commandCase =
  (command: string, path = "/tmp") =>
  (evidence: Evidence) =>
    Promise.resolve({ gate: byCommand([command], evidence), request: gateRequest({ path }) });

describeGate("ci by command", {
  passing: commandCase("echo fine"),
  failing: commandCase(`printf '${TEST_LOG.replaceAll("\n", "\\n")}'; exit 1`),
  broken: commandCase("true", "/nowhere-at-all"),
  slow: commandCase("sleep 600"),
});

describe("over a forge that speaks GitHub's REST", () => {
  let server: GithubServer;
  beforeEach(async () => {
    server = await startGithubServer();
  });
  afterEach(() => server.close());

  const COMMIT = "/repos/acme/shop/commits/commit-now";
  const runs = (...check_runs: readonly object[]) => {
    server.on(`GET ${COMMIT}/check-runs`, { body: { check_runs } });
    server.on(`GET ${COMMIT}/status`, { body: { statuses: [] } });
  };
  const run = (conclusion: string | null) => ({
    id: 7,
    name: "unit",
    status: conclusion === null ? "in_progress" : "completed",
    conclusion,
    html_url: "https://example.test/7",
  });
  const caseOf = (evidence: Evidence, pauses: Clock = clock) => ({
    gate: createCiGate({
      service: createCiForge({
        forge: createGithubForge({ api: server.url, token: null, repository: "acme/shop", clock }),
        integration: published([]),
        clock: pauses,
        patienceMs: 3_600_000,
      }),
      evidence,
      clock,
    }),
    request: gateRequest(),
  });
  const asleep = {
    now: () => performance.now(),
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
  };

  describeGate("ci of a forge", {
    passing: (evidence) => {
      runs(run("success"));
      return Promise.resolve(caseOf(evidence));
    },
    failing: (evidence) => {
      runs(run("failure"));
      server.on("GET /repos/acme/shop/actions/jobs/7/logs", { body: TEST_LOG });
      server.on("GET /repos/acme/shop/check-runs/7/annotations", { body: [] });
      server.on("GET /repos/acme/shop/actions/jobs/7", {
        body: { steps: [{ name: "npm test", conclusion: "failure" }] },
      });
      return Promise.resolve(caseOf(evidence));
    },
    // The repository is unknown, so there is no forge.
    broken: (evidence) => Promise.resolve(caseOf(evidence)),
    slow: (evidence) => {
      runs(run(null));
      return Promise.resolve(caseOf(evidence, asleep));
    },
  });

  test("the evidence of a pass can be read later", async () => {
    runs(run("success"));
    const evidence = memoryEvidence();
    const { gate, request } = caseOf(evidence);
    await gate.run(request, { signal: new AbortController().signal, onOutput: () => undefined });
    expect([...evidence.kept.values()]).toEqual(["unit  passed  success  https://example.test/7\n"]);
  });
});

const published = (sent: string[]): Integration =>
  ({
    publish: (story: string) => {
      sent.push(story);
      return Promise.resolve({ remote: "origin", branch: `remand/${story}`, base: "main" });
    },
  }) as unknown as Integration;

const check = (state: ForgeCheck["state"], name = "unit"): ForgeCheck => ({
  id: `run/${name}`,
  name,
  state,
  url: null,
  summary: `${name} says ${state}`,
});

interface Scene {
  /** What each poll shows; the last one repeats. */
  readonly shown: readonly (readonly ForgeCheck[] | RemandError)[];
  readonly logs?: Readonly<Record<string, Partial<ForgeLog>>>;
  readonly patienceMs?: number;
  readonly onLook?: (times: number) => unknown;
}

function sceneOf({ shown, logs = {}, patienceMs = 3_600_000, onLook = () => undefined }: Scene) {
  const time: VirtualClock = createVirtualClock(0);
  const looks: number[] = [];
  const rerun: string[] = [];
  const sent: string[] = [];
  const output: string[] = [];
  const evidence = memoryEvidence();
  const forge = {
    name: "github",
    checks: () => {
      const now = shown[Math.min(looks.push(time.now()), shown.length) - 1]!;
      onLook(looks.length);
      return now instanceof RemandError ? Promise.reject(now) : Promise.resolve(now);
    },
    logOf: ({ name }: ForgeCheck) =>
      Promise.resolve({ text: TEST_LOG, step: null, isPartial: false, annotations: [], ...logs[name] }),
    rerun: ({ name }: ForgeCheck) => {
      rerun.push(name);
      return Promise.resolve(true);
    },
  } as unknown as Forge;
  const service = createCiForge({ forge, integration: published(sent), clock: time, patienceMs });
  const gate = createCiGate({ service, evidence, clock: time });
  const judge = async (request: Partial<GateRequest> = {}, signal = new AbortController().signal) => {
    let judged: Judgement | null = null;
    const ending = gate
      .run(gateRequest(request), { signal, onOutput: (line) => output.push(line) })
      .then((judgement) => (judged = judgement));
    while (judged === null && (await time.advanceToNext()));
    const judgement = await ending;
    expect(judgementSchema.safeParse(judgement).error).toBeUndefined();
    return judgement;
  };
  return { judge, looks, rerun, sent, output, evidence };
}

describe("waiting for the forge", () => {
  test("the branch is pushed first, then the forge is polled with growing pauses, up to a minute", async () => {
    const running = Array.from({ length: 10 }, () => [check("running"), check("passed", "lint")]);
    const scene = sceneOf({ shown: [...running, [check("passed"), check("passed", "lint")]] });
    expect(await scene.judge()).toMatchObject({ result: "pass", summary: "ci: pass (unit, lint)" });
    expect(scene.sent).toEqual(["checkout"]);
    const pauses = scene.looks.slice(1).map((at, index) => Math.round((at - scene.looks[index]!) / 100) / 10);
    expect(pauses).toEqual([5, 7.5, 11.3, 16.9, 25.3, 38, 57, 60, 60, 60]);
    expect(scene.output).toEqual(["1 of 2 checks ended"]);
  });

  test("a commit without any run proves nothing, which is known after two minutes", async () => {
    const scene = sceneOf({ shown: [[]] });
    expect(await scene.judge()).toMatchObject({
      result: "inconclusive",
      summary: "ci: inconclusive (nothing ran over this commit)",
    });
    expect(scene.looks.at(-1)).toBeGreaterThanOrEqual(120_000);
    expect(scene.looks.at(-1)).toBeLessThan(240_000);
  });

  test("a run that does not end in time is no failure of the work", async () => {
    const scene = sceneOf({ shown: [[check("running"), check("waiting", "deploy")]], patienceMs: 600_000 });
    expect(await scene.judge()).toMatchObject({
      result: "inconclusive",
      summary: "ci: inconclusive (still not ended: unit, deploy)",
    });
  });

  // S1.20
  test("a cancelled run is not passed, and skipped runs prove nothing", async () => {
    expect(await sceneOf({ shown: [[check("passed"), check("cancelled", "e2e")]] }).judge()).toMatchObject({
      result: "inconclusive",
      summary: "ci: inconclusive (cancelled: e2e)",
    });
    expect(await sceneOf({ shown: [[check("skipped"), check("skipped", "e2e")]] }).judge()).toMatchObject({
      result: "inconclusive",
      summary: "ci: inconclusive (every check was skipped)",
    });
    expect((await sceneOf({ shown: [[check("passed"), check("skipped", "e2e")]] }).judge()).result).toBe("pass");
  });

  test("an unreachable forge is an error of the gate, with a hint", async () => {
    const gone = new RemandError("forge-unreachable", "it cannot be asked: it answers 502", "Try again later.");
    expect(await sceneOf({ shown: [[check("running")], gone] }).judge()).toMatchObject({
      result: "error",
      blocking: [],
      summary: "ci: error (it cannot be asked: it answers 502 — Try again later.)",
    });
  });

  test("an abort while waiting gives a result", async () => {
    const stop = new AbortController();
    const scene = sceneOf({ shown: [[check("running")]], onLook: (times) => times === 3 && stop.abort() });
    expect(await scene.judge({}, stop.signal)).toMatchObject({
      result: "error",
      summary: "ci: error (it was stopped)",
    });
    expect(scene.looks).toHaveLength(3);
  });
});

describe("a failure", () => {
  test("is reported by the logs of the first three jobs, the step, and the annotations", async () => {
    const note = { path: "src/cart.ts", line: 12, level: "failure", message: "expected 3 to be 4" } as const;
    const names = ["one", "two", "three", "four"];
    const scene = sceneOf({
      shown: [names.map((name) => check("failed", name))],
      logs: {
        one: { step: "Run npm test", annotations: [note, { ...note, level: "warning", message: "slow" }] },
        // The same job in another environment reports the same; the runner's own annotation names no file of the
        // project.
        two: { isPartial: true, annotations: [note, { ...note, path: ".github", message: "exit code 1" }] },
      },
    });
    const judged = await scene.judge();
    expect(judged).toMatchObject({
      result: "fail",
      ciClass: "test",
      runs: [{ check: "one, two, three, four", command: "Run npm test", environment: "ci", result: "fail" }],
    });
    expect(judged.findings).toMatchObject([
      { category: "ci-test", severity: "critical" },
      { category: "ci-annotation", file: "src/cart.ts", line: 12 },
    ]);
    const [log] = scene.evidence.kept.values();
    expect(log).toContain("── one\n");
    expect(log).toContain("── two (a part of the log is missing)\n");
    expect(log).not.toContain("four");
  });

  test("whose log is gone is not charged", async () => {
    const scene = sceneOf({ shown: [[check("failed")]], logs: { unit: { text: "", isPartial: true } } });
    expect(await scene.judge()).toMatchObject({ result: "fail", ciClass: "infrastructure" });
  });
});

describe("a second judgement of the same tree", () => {
  const tree = treeId("tree-now");
  const failedBefore = (ciClass: Judgement["ciClass"]) =>
    judgementOf({ gate: "ci", result: "fail", tree, ...(ciClass === undefined ? {} : { ciClass }) });

  test("reruns only what failed or was cancelled", async () => {
    const shown = [[check("failed"), check("cancelled", "e2e"), check("passed", "lint")], [check("passed")]];
    const scene = sceneOf({ shown });
    await scene.judge({ last: failedBefore("infrastructure") });
    expect(scene.rerun).toEqual(["unit", "e2e"]);
    // Until the forge has noticed the rerun, it shows the previous result.
    expect(scene.looks[1]! - scene.looks[0]!).toBe(5000);
  });

  test("is flaky if it passes after the work's own failure, and a pass after infrastructure trouble", async () => {
    const shown = [[check("failed")], [check("passed")]];
    expect(await sceneOf({ shown }).judge({ last: failedBefore("test") })).toMatchObject({
      result: "pass",
      ciClass: "flaky",
      summary: "ci: the same tree failed before and passes now (unit)",
    });
    const after = await sceneOf({ shown }).judge({ last: failedBefore("infrastructure") });
    expect(after.result).toBe("pass");
    expect(after.ciClass).toBeUndefined();
  });

  test("does not apply to another tree", async () => {
    const scene = sceneOf({ shown: [[check("passed")]] });
    const last = { ...failedBefore("test"), tree: treeId("before") };
    expect((await scene.judge({ last })).ciClass).toBeUndefined();
    expect(scene.rerun).toEqual([]);
  });
});

describe("by command", () => {
  const judge = (commands: readonly string[], request: Partial<GateRequest> = {}) =>
    byCommand(commands).run(gateRequest({ path: "/tmp", ...request }), {
      signal: new AbortController().signal,
      onOutput: () => undefined,
    });

  test("the first failure is the run's failure, and later commands do not run", async () => {
    const judged = await judge(["echo one", "echo 'error TS2322: no'; exit 2", "echo three"]);
    expect(judged).toMatchObject({ result: "fail", runs: [{ command: "echo 'error TS2322: no'; exit 2" }] });
  });

  test("no commands prove nothing", async () => {
    expect(await judge([])).toMatchObject({ result: "inconclusive" });
  });
});

// S1.27
test("a CI run of tests is described by the failed tests, not by the runner's count", async () => {
  const tap = ["TAP version 13", "not ok 1 - a locked account stays locked", "  ---", "  error: 'boom'", "  ..."];
  const more = ["not ok 2 - it opens", "  ---", "  error: 'shut'", "  ...", "1..2", "# tests 2", "# fail 2"];
  const gate = byCommand([`printf '%s\\n' ${[...tap, ...more].map((line) => `"${line}"`).join(" ")}; exit 1`]);
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const { findings, ciClass } = await gate.run(gateRequest({ path: "/tmp" }), control);
  expect(ciClass).toBe("test");
  expect(findings[0]?.message).toBe("a locked account stays locked: boom; 1 more test failed");
});
