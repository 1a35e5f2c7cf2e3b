import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { presetConfig, presetPolicy } from "../../../src/config/presets.ts";
import { PRESETS } from "../../../src/core/events/policy.ts";
import { roleName, storyId } from "../../../src/core/events/ids.ts";
import type { SignalRole } from "../../../src/core/stories/reading.ts";
import { readAgentFile } from "../../../src/parse/agent/agent-file.ts";
import { readAgentText } from "../../../src/parse/agent/agent-text.ts";
import { rolesOfGate } from "../../../src/app/agent-spec.ts";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import { defaultRole, roleRegistryOf } from "../../../src/compose/agents/roles.ts";
import { writeClarificationPrompt } from "../../../src/write/prompts/signal-forms.ts";
import { writeHealthCheckPrompt, writeRemediationPrompt } from "../../../src/write/prompts/remediation.ts";
import { writeOraclePrompt } from "../../../src/write/prompts/audit-and-oracle.ts";
import { writePerspectivePrompt } from "../../../src/write/prompts/review.ts";
import { agentRequest } from "../../contract/agent-request.ts";
import { NO_SANDBOXES } from "../../../src/adapters/sandbox/open-sandboxes.ts";

const folder = fileURLToPath(new URL("../../../plugin/roles", import.meta.url));
const ROLES = readdirSync(folder)
  .filter((name) => name.endsWith(".md"))
  .map((name) => basename(name, ".md"));
const textOf = (role: string): string => readFileSync(`${folder}/${role}.md`, "utf8");

describe.each(PRESETS)("the preset %s", (preset) => {
  it("has a file for every named role", () => {
    const policy = presetPolicy(preset);
    const { phase, stage, fallback, reinforcement: _rules, ...rest } = policy.roles;
    const named = [
      ...Object.values(phase),
      ...Object.values(stage),
      ...Object.keys(fallback),
      ...Object.values(fallback),
      ...Object.values(rest),
      ...policy.phases.flatMap((plan) => plan.gates.flatMap((gate) => rolesOfGate(policy, gate))),
    ];
    expect(named.length).toBeGreaterThan(9);
    expect([...new Set<string>(named)].filter((role) => !ROLES.includes(role))).toEqual([]);
  });
});

describe.each(ROLES)("the role %s", (role) => {
  it("is a valid role file, short enough to be read, and the one that is used", async () => {
    const { agent, problems } = readAgentFile(`${role}.md`, textOf(role));
    expect(problems).toEqual([]);
    expect(agent).toMatchObject({ role, description: expect.stringMatching(/^[A-Z].{20,}\.$/) });
    expect(agent!.tools!.length).toBeGreaterThan(2);
    expect(agent!.prompt.length).toBeLessThan(3000);
    expect((await defaultRole(role))!.prompt).toBe(agent!.prompt);
  });

  it("gives no signal when it is repeated", () => {
    expect(readAgentText(textOf(role), { id: "pay-1" }).result).toBe("unknown");
    expect(readAgentText(textOf(role)).kind).not.toBe("signal");
  });
});

test("a role of another name has no file, whatever the name", async () => {
  for (const name of ["painter", "../roles/critic", "", "critic/../critic"]) expect(await defaultRole(name)).toBeNull();
});

describe("the agent of a role", () => {
  const COMMANDS = { critic: { command: "true" }, painter: { command: "true" } };
  const roleRegistryIn = async (files: Readonly<Record<string, string>>, agents: Config["agents"] = COMMANDS) => {
    const root = mkdtempSync(join(tmpdir(), "remand-roles-"));
    try {
      mkdirSync(join(root, ".claude/agents"), { recursive: true });
      for (const [name, text] of Object.entries(files)) writeFileSync(join(root, ".claude/agents", name), text);
      const config = { ...presetConfig("goal"), agents };
      const plan = {
        config,
        policy: presetPolicy("goal"),
        stories: [],
        place: "worktrees",
        agentCommand: null,
      } as const;
      const python = { in: () => Promise.resolve({}), look: () => Promise.resolve(null) };
      const parts = { clock: createVirtualClock(0), env: {}, sandboxes: NO_SANDBOXES, python };
      return await roleRegistryOf(root, { ...plan, watcher: { onOutput: () => {}, onLines: () => {} } }, parts);
    } finally {
      rmSync(root, { recursive: true });
    }
  };

  it("gets the shipped prompt of the role, or none if none is shipped", async () => {
    const roleRegistry = await roleRegistryIn({});
    expect((await roleRegistry.agentFor(roleName("critic")))!.prompt).toContain("You are the critic.");
    expect((await roleRegistry.agentFor(roleName("painter")))!.prompt).toBe("");
  });

  it("gets the prompt of the role that it replaces, or else that of its own role", async () => {
    const roleRegistry = await roleRegistryIn(
      {},
      { critic: { command: "true" }, "product-owner": { fallback: "critic" } },
    );
    expect(await roleRegistry.agentFor(roleName("product-owner"))).toBeNull();
    const standing = await roleRegistry.agentFor(roleName("critic"), roleName("product-owner"));
    expect(standing!.prompt).toContain("You answer for the story.");
    const other = await roleRegistry.agentFor(roleName("critic"), roleName("painter"));
    expect(other!.prompt).toContain("You are the critic.");
  });

  it("gets the project's prompt if there is one", async () => {
    const roleRegistry = await roleRegistryIn({ "critic.md": "---\nname: critic\nmodel: opus\n---\nOnly typos.\n" });
    expect(await roleRegistry.agentFor(roleName("critic"))).toMatchObject({ prompt: "Only typos.", model: "opus" });
  });

  it.each([
    ["Read, Bash(ls)", "Read"],
    ['"*"', "Read,Grep,Glob"],
  ])("is started with the tools %s of its file, limited by its access: %s", async (tools, wanted) => {
    const root = mkdtempSync(join(tmpdir(), "remand-roles-"));
    const program = join(root, "claude");
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${root}/args\n`, { mode: 0o755 });
    const roleRegistry = await roleRegistryIn(
      { "critic.md": `---\nname: critic\ntools: ${tools}\n---\nLook.\n` },
      { critic: { use: "claude", command: program } },
    );
    const { agent } = (await roleRegistry.agentFor(roleName("critic")))!;
    const control = { signal: new AbortController().signal, onEvent: () => {} };
    await agent.run(agentRequest(root, { access: "read", timeoutMs: 60_000 }), control);
    const args = readFileSync(join(root, "args"), "utf8").split("\n");
    expect(args[args.indexOf("--tools") + 1]).toBe(wanted);
    rmSync(root, { recursive: true });
  });

  it("does not silently get another prompt if the project's file is broken", async () => {
    await expect(roleRegistryIn({ "critic.md": "---\nname: [\n---\nOnly typos.\n" })).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining("critic.md:2"),
    });
  });
});

/** The forms in a role's file: the indented lines, without their indentation. */
function formsOf(role: string): string[] {
  const report = textOf(role).split("## Report\n")[1]!;
  return report
    .split(/^or$/m)
    .map((part) =>
      (/(?:^ {4}.*\n|^\n)+/m.exec(part.replace(/^[^]*?\n(?= {4})/, ""))?.[0] ?? "").replaceAll(/^ {4}/gm, ""),
    )
    .map((form) => form.trim());
}

/** The prompts that Remand writes contain the same forms, which must match. */
const NONCE = { nonce: "abcdef0123" };
const STORY = { id: storyId("pay-1"), title: "Pay", goal: "Pay" };
const asking = (role: SignalRole): string =>
  writeClarificationPrompt({ storyId: STORY.id, role, why: "unreadable", problems: [], ask: 1, asks: 2 }, NONCE);
const WRITTEN = [
  writeOraclePrompt({ rolePrompt: "", goal: "", criteria: [], conditions: [], makerSummary: "", evidence: [] }, NONCE),
  asking("developer"),
  asking("critic"),
  asking("auditor"),
  writePerspectivePrompt(
    {
      rolePrompt: "",
      story: STORY,
      phase: "implement",
      perspective: "code",
      product: "",
      criteria: [],
      filesModified: [],
      practices: [],
    },
    NONCE,
  ),
  writeRemediationPrompt(
    { rolePrompt: "", issue: "x", evidence: [], commands: [], guidance: [], history: [], attempt: 1, attempts: 3 },
    NONCE,
  ),
].join("\n");

const FORMS = ROLES.flatMap((role) =>
  formsOf(role).map((form): [string, string, string] => [role, form.split("\n")[0]!, form]),
);

test("every role shows at least one form", () => {
  expect([...new Set(FORMS.map(([role]) => role))]).toEqual(ROLES);
  expect(FORMS.length).toBeGreaterThan(35);
});

test.each(FORMS.filter(([role]) => role !== "health-check"))(
  "%s: the form %s is the one that is asked for",
  (_role, _first, form) => {
    const lines = form
      .replaceAll("<task id>", "pay-1")
      .replaceAll("<the nonce of this prompt>", NONCE.nonce)
      .split("\n");
    const shown = lines.map((line) => (line === "" ? "" : `    ${line}`)).join("\n");
    expect(WRITTEN).toContain(shown);
  },
);

test("the health check ends with the signal that the engine expects", () => {
  const prompt = writeHealthCheckPrompt({ rolePrompt: "", issue: "x", fixes: [], commands: [] }, NONCE);
  const first = formsOf("health-check").map((form) => form.split("\n")[0]!);
  expect(first).toEqual(["HEALTH_AUDIT: HEALTHY", "HEALTH_AUDIT: UNHEALTHY"]);
  for (const line of first) expect(prompt).toContain(`\`${line}\``);
});

/** An agent that does exactly what its role file says. */
const FILLED: readonly (readonly [RegExp | string, string])[] = [
  ["<task id>", "pay-1"],
  ["<missing_info|out_of_scope|blocked_by_dependency|infrastructure>", "missing_info"],
  ["<HIGH|MEDIUM|LOW>", "HIGH"],
  ["<true or false>", "false"],
  ['<"blocker", "critical", "major" or "minor">', '"critical"'],
  ['<"security", "testing", "requirements", "design", …>', '"security"'],
  ["<path, or null>", '"src/pay.ts"'],
  ["<number, or null>", "7"],
  ["<what is wrong, and why it matters>", '"the amount is not checked"'],
  ["[<what you learned that the author does not know>]", '["amounts come in cents"]'],
  ["<file>:<line>: <what is wrong>", "src/pay.ts:7: the amount is not checked"],
  ["<file>", "src/pay.ts"],
  ["<criterion>", "AC1"],
  ["<command> (<environment>)", "npm test (node20)"],
];

function filled(form: string): string {
  let text = form;
  for (const [hole, with_] of FILLED) text = text.replaceAll(hole, with_);
  text = text.replace('"suggestedFix": <what to do about it>', '"suggestedFix": "check it"');
  return text.replaceAll(/<[^>\n]+>/g, "something that was done");
}

const WANTED: Readonly<Record<string, readonly [SignalRole, object]>> = {
  READY_FOR_REVIEW: ["developer", { result: "ready", filesModified: ["src/pay.ts"] }],
  TASK_INCOMPLETE: ["developer", { result: "incomplete", incomplete: { category: "missing_info" } }],
  INFRA_BLOCKED: ["developer", { result: "blocked" }],
  REVIEW_PASSED: ["critic", { result: "pass" }],
  REVIEW_FAILED: ["critic", { result: "fail", findings: [{ file: "src/pay.ts", line: 7 }] }],
  AUDIT_PASSED: ["auditor", { result: "pass" }],
  AUDIT_FAILED: ["auditor", { result: "fail" }],
  AUDIT_BLOCKED: ["auditor", { result: "blocked" }],
  "{": [
    "critic",
    { result: "fail", kind: "verdict", findings: [{ severity: "critical", file: "src/pay.ts", line: 7 }] },
  ],
};

test.each(FORMS.filter(([role]) => !["health-check", "remediation", "oracle"].includes(role)))(
  "%s: rehearsed, the report %s is read as what it says",
  (_role, _first, form) => {
    const [name = ""] = form.split(/[:\n]/, 1);
    const [role, wanted] = WANTED[name]!;
    const reading = readAgentText(`I looked at it.\n\n${filled(form)}\n`, { id: "pay-1", role });
    expect(reading).toMatchObject(wanted);
    expect(reading.problems).toEqual([]);
  },
);
