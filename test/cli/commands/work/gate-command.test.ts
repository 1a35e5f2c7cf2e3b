import { describe, expect, it } from "vitest";
import { command as gate } from "../../../../src/cli/commands/work/gate.ts";
import { contestedSummary } from "../../../../src/core/gates/contested-test.ts";
import { licensedReport, passedSummary, type GateReport } from "../../../../src/core/gates/gate-report.ts";
import { identifyFinding } from "../../../../src/core/gates/finding-identity.ts";
import type { Judgement } from "../../../../src/core/gates/gate.ts";
import { treeId } from "../../../../src/core/events/ids.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const CONFIG = "version: 1\npreset: critic-audit\ngates: { checks: { commands: [npm test] } }\n";
const judgement = (changes: Partial<Judgement> = {}): Judgement => ({
  gate: "integrity",
  result: "pass",
  tree: treeId("t"),
  findings: [],
  blocking: [],
  summary: "integrity: pass",
  evidence: [],
  durationMs: 20,
  ...changes,
});
const finding = identifyFinding({
  severity: "major",
  category: "test",
  source: "npm test",
  message: "100% wrong:\n::error::not a command",
  file: "src/a.ts",
  line: 7,
});
const failing = judgement({
  gate: "checks",
  result: "fail",
  findings: [finding],
  blocking: [finding.id],
  summary: "checks: fail (npm test: exit code 1), 1 to fix",
  durationMs: 2300,
});
const report = (judgements: readonly Judgement[], changes: Partial<GateReport["judged"]> = {}): GateReport => ({
  judged: {
    at: null,
    commit: "c".repeat(40),
    tree: treeId("t"),
    base: "b".repeat(40),
    baseName: "origin/main",
    folder: "",
    ...changes,
  },
  judgements,
  skipped: [{ gate: "audit", why: "no agent plays auditor" }],
});

const files = () =>
  memoryFiles({ "/work/remand.yaml": CONFIG, "/work/stories/one.md": "---\ntitle: One\n---\n\nOne.\n" });

describe("remand gate", () => {
  it("runs the gates of the config, and prints their results for people", async () => {
    const host = fakeHost({ gates: report([judgement(), failing]) });
    const ran = await run(["gate"], [gate], { host, files: files() });
    expect(ran.exit).toBe(3);
    expect(ran.out).toBe(
      [
        "✔ integrity  pass   20 ms",
        "✖ checks     fail (npm test: exit code 1), 1 to fix   2 s",
        "    src/a.ts:7 100% wrong: ::error::not a command",
        "· audit      not judged: no agent plays auditor",
        `not passed: 1 of 2 gates · 1 not judged · the files as they are since ${"b".repeat(12)} (origin/main)`,
        "",
      ].join("\n"),
    );
    expect(host.gatePlans).toMatchObject([
      { gates: ["integrity", "checks", "review", "audit"], isNamed: false, at: null, base: null, all: false },
    ]);
  });

  it("exits with 0 if all gates that ran passed, and with 3 if none ran", async () => {
    const passed = fakeHost({ gates: report([judgement()], { at: "HEAD" }) });
    const ran = await run(["gate", "--at", "HEAD"], [gate], { host: passed, files: files() });
    expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining("passed: 1 gate · 1 not judged · HEAD (ccccc") });
    const nothing = await run(["gate"], [gate], { host: fakeHost({ gates: report([]) }), files: files() });
    expect(nothing).toMatchObject({ exit: 3, out: expect.stringContaining("nothing was judged") });
    const broken = judgement({ result: "error", summary: "integrity: git is gone" });
    const ended = await run(["gate"], [gate], { host: fakeHost({ gates: report([broken]) }), files: files() });
    expect(ended).toMatchObject({ exit: 3, out: expect.stringContaining("⚠ integrity  git is gone") });
  });

  it("passes the typed gates, story, commit and base to the host", async () => {
    const host = fakeHost({ gates: report([judgement()]) });
    await run(["gate", "checks", "--only", "integrity", "--base", "v1", "--all"], [gate], { host, files: files() });
    await run(["gate", "one"], [gate], { host, files: files() });
    expect(host.gatePlans).toMatchObject([
      { gates: ["integrity", "checks"], isNamed: true, base: "v1", all: true, story: null, at: null },
      { isNamed: false, story: { id: "one" }, at: "remand/one" },
    ]);
    const wrong = await run(["gate", "onne"], [gate], { host, files: files() });
    expect(wrong).toMatchObject({ exit: 2, err: expect.stringContaining("Did you mean one?") });
  });

  it("writes the requested format, also to a file", async () => {
    const host = fakeHost({ gates: report([judgement(), failing], { folder: "part" }) });
    const as = async (...args: string[]) => (await run(["gate", ...args], [gate], { host, files: files() })).out;
    expect(JSON.parse(await as("--json"))).toMatchObject({
      schema: "remand.gate/1",
      exit: 3,
      passed: false,
      judged: { baseName: "origin/main" },
      judgements: [{ gate: "integrity" }, { gate: "checks", result: "fail" }],
      skipped: [{ gate: "audit" }],
    });
    expect(JSON.parse(await as("--format", "sarif"))).toMatchObject({
      runs: [
        {
          tool: { driver: { semanticVersion: "9.8.7" } },
          results: [{ locations: [{ physicalLocation: { artifactLocation: { uri: "part/src/a.ts" } } }] }],
        },
      ],
    });
    expect(await as("--format", "junit")).toContain('<testsuites name="remand" tests="3" failures="1"');
    const disk = files();
    const ran = await run(["gate", "--output", "out/remand.xml"], [gate], { host, files: disk });
    expect(ran).toMatchObject({ exit: 3, err: "remand: wrote out/remand.xml (junit, 1 finding)\n" });
    expect(ran.out).toContain("not passed: 1 of 2 gates");
    expect(await disk.read("/work/out/remand.xml")).toMatch(/^<\?xml /);
    expect(await run(["gate", "--format", "sarfi"], [gate], { host, files: files() })).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Did you mean sarif?"),
    });
  });

  it("writes annotations on GitHub, where text of tools cannot act as commands", async () => {
    const error = judgement({ gate: "review", result: "error", summary: "review: no reviewer answered" });
    const host = fakeHost({ gates: report([failing, error], { folder: "part" }) });
    const { out } = await run(["gate"], [gate], { host, files: files(), env: { GITHUB_ACTIONS: "true" } });
    const commands = out.split("\n").filter((line) => /^\s*::/.test(line));
    expect(commands).toEqual([
      "::error file=part/src/a.ts,line=7,title=remand%3A checks::100%25 wrong: ::error::not a command",
      "::error title=remand%3A review::review: no reviewer answered",
    ]);
  });

  it("appends a table to the page of the run on GitHub", async () => {
    const odd = identifyFinding({ severity: "major", category: "x", source: "y", message: "a | <b> `c`" });
    const host = fakeHost({ gates: report([judgement({ result: "fail", findings: [odd], blocking: [odd.id] })]) });
    const disk = memoryFiles({ "/work/remand.yaml": CONFIG, "/summary.md": "# Before\n" });
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: "/summary.md" };
    await run(["gate", "--format", "sarif", "--output", "x.sarif"], [gate], { host, files: disk, env });
    expect((await disk.read("/summary.md"))!.split("\n").slice(0, 8)).toEqual([
      "# Before",
      "## Remand gate",
      "",
      "| gate | |",
      "|---|---|",
      "| ✖ integrity | pass   20 ms<br>a &#124; &#60;b&#62; &#96;c&#96; |",
      "| · audit | not judged: no agent plays auditor |",
      "",
    ]);
    await run(["gate"], [gate], { host, files: disk, env: { GITHUB_STEP_SUMMARY: "/summary.md" } });
    expect((await disk.read("/summary.md"))!.split("## Remand gate")).toHaveLength(2);
  });

  describe("with contested tests", () => {
    const contested = [
      { test: "test/a.test.js > adds", why: "fails", file: "test/a.test.js" },
      { test: "removes | ::error::x", why: "removed" },
    ] as const;
    const checks = judgement({ gate: "checks", summary: "checks: pass (3 of 3)", contested });
    const asked = (args: readonly string[], seen: readonly Judgement[] = [checks], env = {}) =>
      run(["gate", ...args], [gate], {
        host: fakeHost({ gates: report(seen, { folder: "part" }) }),
        files: files(),
        env,
      });

    it("lists them, and passes", async () => {
      const ran = await asked([]);
      expect(ran.exit).toBe(0);
      expect(ran.out).toContain(
        [
          "    2 contested tests (if the change asks for it, allow them with --tests-may-change <glob>):",
          "    test/a.test.js > adds fails in its base version",
          "    removes | ::error::x passed at the base and no longer runs",
          "",
        ].join("\n"),
      );
      expect(JSON.parse((await asked(["--json"])).out)).toMatchObject({
        exit: 0,
        passed: true,
        judgements: [{ contested }],
      });
    });

    it("writes them as notes to SARIF, and as warnings to the files on GitHub", async () => {
      const { runs } = JSON.parse((await asked(["--format", "sarif"])).out) as { runs: { results: object[] }[] };
      expect(runs[0]!.results).toMatchObject([
        {
          ruleId: "contested-test",
          level: "note",
          message: { text: "test/a.test.js > adds fails in its base version" },
          locations: [{ physicalLocation: { artifactLocation: { uri: "part/test/a.test.js" } } }],
        },
        { level: "note", locations: [] },
      ]);
      const { out } = await asked([], [checks], { GITHUB_ACTIONS: "true" });
      expect(out.split("\n").filter((line) => /^\s*::/.test(line))).toEqual([
        "::warning file=part/test/a.test.js,title=remand%3A contested test::test/a.test.js > adds fails in its base version",
        "::warning title=remand%3A contested test::removes | ::error::x passed at the base and no longer runs",
      ]);
    });

    it("exits with 4 under --strict, as inconclusive, and names the option that licenses the tests", async () => {
      const ran = await asked(["--strict"]);
      expect(ran.exit).toBe(4);
      expect(ran.out).toContain("⚠ checks  2 contested tests: test/a.test.js > adds, removes");
      expect(ran.out).toContain(
        "allow them: remand gate --tests-may-change test/a.test.js --tests-may-change 'removes | ::error::x'",
      );
      expect(ran.out).toContain("not passed: 1 of 1 gate");
      expect(JSON.parse((await asked(["--strict", "--json"])).out)).toMatchObject({
        exit: 4,
        passed: false,
        judgements: [{ result: "inconclusive", contested }],
      });
      expect((await asked(["--strict", "--format", "junit"])).out).toContain('errors="1"');
      expect((await asked(["--strict"], [judgement()])).exit).toBe(0);
      expect((await asked(["--strict"], [checks, failing])).exit).toBe(3);
    });

    it("exits with 4 without --strict if an attempt of Remand wrote the work", async () => {
      const host = fakeHost({ gates: report([checks], { attemptOf: "round" }) });
      const ran = await run(["gate"], [gate], { host, files: files() });
      expect(ran.exit).toBe(4);
      expect(ran.out).toContain("remand gate --tests-may-change test/a.test.js");
    });

    it("are closed by a reviewer's ruling", async () => {
      const passed = await asked(["--strict"], [checks, judgement({ gate: "review", contested })]);
      expect(passed.exit).toBe(0);
      expect(passed.out).not.toContain("contested");
      const half = await asked(["--strict"], [checks, judgement({ gate: "review", contested: [contested[0]] })]);
      expect(half.exit).toBe(4);
    });

    it("passes --tests-may-change to the host", async () => {
      const host = fakeHost({ gates: report([judgement()]) });
      const args = ["--tests-may-change", "test/**", "--tests-may-change", "adds"];
      await run(["gate", ...args], [gate], { host, files: files() });
      expect(host.gatePlans).toMatchObject([{ testsMayChange: ["test/**", "adds"] }]);
    });

    it("can be licensed by a code owner, in every output format", async () => {
      const license = {
        gate: "checks",
        by: "ada",
        owner: "@ada",
        ownedFile: "part/test/a.test.js",
        commit: "c",
      } as const;
      const words = "licensed by @ada's approval as code owner of part/test/a.test.js";
      const judged = { ...checks, summary: `checks: pass; ${contestedSummary(contested)}` };
      const ruling = { licensed: [{ ...contested[0], ...license }], notes: ["the file of removes is not known"] };
      const seen = licensedReport(report([judged]), ruling);
      const as = (...args: string[]) =>
        run(["gate", ...args], [gate], { host: fakeHost({ gates: seen }), files: files() });
      const text = await as();
      expect(text.out).toContain("✔ checks  pass; 1 contested test licensed by @ada; 1 contested test: removes");
      expect(text.out).toContain(`    test/a.test.js > adds fails in its base version; ${words}\n`);
      expect(text.out).toContain("    no license by a code owner: the file of removes is not known\n");
      expect((await as("--strict")).out).toContain("allow them: remand gate --tests-may-change 'removes | ::error::x'");
      const json: unknown = JSON.parse((await as("--json")).out);
      expect(json).toMatchObject({
        judgements: [{ contested: [contested[1]] }],
        licensed: [{ test: "test/a.test.js > adds", by: "ada" }],
        licenseNotes: ["the file of removes is not known"],
      });
      expect((await as("--format", "sarif")).out).toContain(`fails in its base version; ${words}`);
      expect((await as("--format", "github")).out).toContain(
        `::notice file=test/a.test.js,title=remand%3A licensed test::test/a.test.js > adds fails in its base version; ${words}`,
      );
    });

    it("belong to the named pull request, or to the workflow's", async () => {
      const asked = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
        const host = fakeHost({ gates: report([judgement()]) });
        const disk = memoryFiles({
          "/work/remand.yaml": CONFIG,
          "/event.json": '{ "pull_request": { "number": 9 } }',
          "/push.json": '{ "before": "0" }',
          "/broken.json": "{",
        });
        const ran = await run(["gate", ...args], [gate], { host, files: disk, env });
        return host.gatePlans[0]?.pullRequest ?? ran.exit;
      };
      const here = { GITHUB_ACTIONS: "true", GITHUB_REF: "refs/heads/main" };
      expect(await asked({})).toBe(0);
      expect(await asked({}, "--pull-request", "17")).toBe(17);
      expect(await asked({}, "--pull-request", "0")).toBe(2);
      expect(await asked({ ...here, GITHUB_REF: "refs/pull/8/merge" })).toBe(8);
      expect(await asked({ GITHUB_REF: "refs/pull/8/merge" })).toBe(0);
      expect(await asked({ ...here, GITHUB_EVENT_PATH: "/event.json" })).toBe(9);
      expect(await asked({ ...here, GITHUB_EVENT_PATH: "/push.json" })).toBe(0);
      expect(await asked({ ...here, GITHUB_EVENT_PATH: "/broken.json" })).toBe(0);
      expect(await asked({ ...here, GITHUB_EVENT_PATH: "/event.json" }, "--pull-request", "17")).toBe(17);
    });

    it("are listed when a hook reports a pass", () => {
      expect(passedSummary(report([checks]))).toBe(
        "checks: pass (3 of 3); 2 contested tests: test/a.test.js > adds, removes | ::error::x",
      );
    });
  });

  it("exits with 2 at once if the config is invalid", async () => {
    const host = fakeHost({ gates: report([judgement()]) });
    const broken = memoryFiles({ "/work/remand.yaml": "gaets: {}\n" });
    const ran = await run(["gate"], [gate], { host, files: broken });
    expect(ran).toMatchObject({ exit: 2, out: "", err: expect.stringContaining("gates") });
    expect(host.gatePlans).toEqual([]);
  });

  it("stops on a signal", async () => {
    const host = fakeHost();
    const stopped: { now: (signal: "SIGTERM") => void } = { now: () => undefined };
    const ran = await run(["gate"], [gate], {
      files: files(),
      onInterrupt: (handler) => {
        stopped.now = handler;
        return () => undefined;
      },
      host: {
        ...host,
        gate: (_root, { signal }) => {
          stopped.now("SIGTERM");
          return Promise.resolve(report([judgement({ result: signal.aborted ? "error" : "pass" })]));
        },
      },
    });
    expect(ran).toMatchObject({ exit: 143, out: "" });
  });
});
