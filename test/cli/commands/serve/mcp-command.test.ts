import { describe, expect, it } from "vitest";
import { command as mcp } from "../../../../src/cli/commands/serve/mcp.ts";
import type { BlamePlan } from "../../../../src/app/host-plans.ts";
import type { Host } from "../../../../src/app/host.ts";
import type { GateReport } from "../../../../src/core/gates/gate-report.ts";
import { treeId } from "../../../../src/core/events/ids.ts";
import type { Tool, ToolAnswer } from "../../../../src/ports/agent.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const CONFIG =
  "version: 1\npreset: critic-audit\ngates: { checks: { commands: [npm test, { name: lint, run: npm run lint }] } }\n";
const REPORT: GateReport = {
  judged: { at: null, commit: "c0ffee", tree: treeId("t"), base: "ba5e", baseName: "main", folder: "" },
  judgements: [
    {
      gate: "checks",
      result: "fail",
      tree: treeId("t"),
      findings: [],
      blocking: [],
      summary: "checks: npm test failed",
      evidence: [],
      durationMs: 5,
    },
  ],
  skipped: [],
};

/** Calls tools as a client would, one after the other. */
async function calling(
  calls: readonly (readonly [string, unknown])[],
  {
    files = { "/work/remand.yaml": CONFIG },
    env = {},
    host = {},
  }: { files?: Record<string, string>; env?: Record<string, string>; host?: Partial<Host> } = {},
) {
  const answers: ToolAnswer[] = [];
  let tools: readonly Tool[] = [];
  const fake = fakeHost({ gates: REPORT });
  const disk = memoryFiles(files);
  const ran = await run(["mcp"], [mcp], {
    files: disk,
    env,
    host: {
      ...fake,
      ...host,
      offer: async (offered, { signal }) => {
        tools = offered;
        for (const [name, input] of calls)
          answers.push(await offered.find((tool) => tool.name === name)!.call(input, signal));
      },
    },
  });
  return { ran, tools, answers, fake, disk };
}

describe("remand mcp", () => {
  it("offers the parts of the loop and the reports, each with a schema that refuses unknown keys", async () => {
    const { ran, tools } = await calling([]);
    expect(ran.exit).toBe(0);
    expect(tools.map(({ name }) => name)).toEqual([
      "gate",
      "blame",
      "brief",
      "status",
      "report_ready",
      "report_verdict",
      "report_blocked",
      "ask_human",
      "dispute_finding",
    ]);
    for (const { inputSchema } of tools)
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
  });

  it("gate runs the gates that need no agent, and reports whether they passed", async () => {
    const { answers, fake } = await calling([["gate", { base: "main" }]]);
    expect(answers).toMatchObject([{ isError: false, data: { passed: false } }]);
    expect(answers[0]!.text).toContain("npm test failed");
    expect(fake.gatePlans[0]).toMatchObject({ gates: ["integrity", "checks"], base: "main", at: null });
  });

  it("blame runs only checks of the config, never a command of the agent", async () => {
    const plans: BlamePlan[] = [];
    const blame: Host["blame"] = (_root, plan) => {
      plans.push(plan);
      return Promise.resolve({
        blame: null,
        considered: [],
        hunks: [],
        runs: 1,
        seconds: 0,
        base: "main",
        command: plan.command,
        unproven: null,
      });
    };
    const { answers } = await calling(
      [
        ["blame", { check: "lint", prove: false }],
        ["blame", { check: "rm -rf /" }],
        ["blame", { failure: "boom", base: "--output=/etc/passwd" }],
      ],
      { host: { blame } },
    );
    expect(answers.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(answers[1]!.text).toContain("rm -rf / is not configured; there are npm test, npm run lint");
    expect(answers[2]!.text).toContain("is no ref");
    expect(plans).toMatchObject([{ command: "npm run lint", prove: false, output: null }]);
  });

  it("errors are returned as text and never crash the server", async () => {
    const { answers } = await calling([
      ["gate", null],
      ["gate", { only: "checks" }],
      ["gate", { only: ["chekcs"] }],
      ["brief", {}],
      ["brief", { story: "cart" }],
      ["brief", { story: "cart", attempt: "one" }],
      ["status", { stories: [1] }],
    ]);
    expect(answers.every(({ isError }) => isError)).toBe(true);
    expect(answers[2]!.text).toContain("Did you mean checks?");
    const broken = await calling(
      [
        ["gate", {}],
        ["blame", {}],
      ],
      { files: { "/work/remand.yaml": "version: 1\nx: 1\n" } },
    );
    for (const { isError, text } of broken.answers) {
      expect(isError).toBe(true);
      expect(text).toContain("remand.yaml");
    }
  });

  it("status says that nothing ran", async () => {
    expect((await calling([["status", {}]])).answers).toMatchObject([{ isError: false, data: { stories: [] } }]);
  });

  it("a report goes to the run that started the agent; without a run, the answer says so", async () => {
    const ready = ["report_ready", { story: "cart", outcome: "ready", summary: "done" }] as const;
    const alone = await calling([ready]);
    expect(alone.answers).toMatchObject([{ isError: false, text: expect.stringContaining("it is not recorded") }]);
    const dispute = ["dispute_finding", { story: "cart", finding: "1", reason: "it is wanted" }] as const;
    const { answers, disk } = await calling([dispute, ready], { env: { REMAND_RESULT_FILE: "/tmp/x/result.json" } });
    expect(answers).toMatchObject([{ isError: false }, { isError: false, text: expect.stringContaining("Recorded") }]);
    expect(JSON.parse((await disk.read("/tmp/x/result.json"))!)).toEqual({
      text: "Dispute: 1: it is wanted",
      output: { id: "cart", signal: "READY_FOR_REVIEW", summary: "done", filesModified: [] },
    });
  });
});
