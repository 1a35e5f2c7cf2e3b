import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { GateDescriptor } from "../../src/core/gates/registry.ts";
import { policySchema } from "../../src/core/schemas/policy.ts";
import type { CreateGate } from "../../src/gates/gate-parts.ts";
import { makeProject, works, type Project } from "../e2e/critic-audit-project.ts";

/* A ninth gate: one row in each registry, and nothing else. The program runs with it as with the others. */

vi.mock("../../src/core/gates/registry.ts", async (original) => {
  const registry = await original<{ readonly GATE_REGISTRY: Readonly<Record<string, GateDescriptor>> }>();
  // A row without special properties: the merge gate's, without those of the target.
  const plain = {
    ...registry.GATE_REGISTRY["merge"],
    judgesWithTarget: false,
    seesEveryPath: false,
    isInEveryPolicy: false,
    brief: "goal",
  };
  return { ...registry, GATE_REGISTRY: { ...registry.GATE_REGISTRY, spelling: plain } };
});

vi.mock("../../src/gates/registry.ts", async (original) => {
  const { GATE_CREATORS } = await original<{ readonly GATE_CREATORS: Readonly<Record<string, CreateGate>> }>();
  return {
    GATE_CREATORS: {
      ...GATE_CREATORS,
      spelling: ((settings, parts) => spellingGate(settings, parts)) satisfies CreateGate,
    },
  };
});

const SPELLING = "spelling" as (typeof GATES)[number];

const MISSPELLED = {
  id: "f".repeat(32),
  severity: "critical",
  category: "spelling",
  message: "`recieve` is misspelled",
  source: "spelling",
  file: "src/wait.js",
} as never;

const spellingGate: CreateGate = (settings, { workspace }) => ({
  name: SPELLING,
  criteria: () => settings.gates[SPELLING].commands.map(({ run }) => run),
  async run({ story, base, tree }) {
    const isWrong = (await workspace.diff(story.id, base, tree)).includes("recieve");
    const findings = isWrong ? [MISSPELLED] : [];
    return {
      gate: SPELLING,
      tree,
      result: isWrong ? "fail" : "pass",
      findings,
      blocking: findings.map(({ id }) => id),
      summary: `spelling: ${isWrong ? "fail, 1 to fix" : "pass"}`,
      evidence: [],
      durationMs: 0,
    };
  },
});

let project: Project;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.clear());

test("a gate that is one row in each registry rejects work, briefs the agent, and passes the fix", async () => {
  project.story("cap");
  const result = await project.run(
    { developer: [works("// recieve"), works("// receive")] },
    {
      set: [
        "phases.implement=[integrity, checks, spelling]",
        "gates.checks.commands=[node --test]",
        "gates.spelling={ commands: [aspell], failures: 2 }",
      ],
    },
  );
  expect(result).toMatchObject({ exitCode: 0, stories: [{ id: "cap", status: "accepted", attempts: 2 }] });
  expect(project.verdicts()).toEqual(["checks pass", "spelling fail", "checks pass", "spelling pass"]);
  const [first, second] = project.prompts("developer");
  expect(first).toContain("aspell");
  expect(second).toContain("`recieve` is misspelled");
  const trail = join(project.repository.root, ".remand/audit-trail");
  expect(existsSync(trail)).toBe(true);
  const logs = readdirSync(trail, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("rework-log.json"),
  );
  const [log] = logs.map((path) => JSON.parse(readFileSync(join(trail, path), "utf8")) as unknown);
  expect(log).toMatchObject({
    rework_entries: [{ gate: "spelling", trigger: { reasons: ["`recieve` is misspelled"] } }],
  });
});

test("rules that were stored before the gate was added are still read", () => {
  const policy = presetPolicy("factory");
  const { [SPELLING]: _limit, ...failures } = policy.limits.failures;
  const { [SPELLING]: _rules, ...gates } = policy.gates;
  const stored = JSON.parse(JSON.stringify({ ...policy, gates, limits: { ...policy.limits, failures } })) as unknown;
  const read = policySchema.parse(stored);
  expect(read).toMatchObject(stored as object);
  expect(read.limits.failures[SPELLING]).toBeNull();
});

test("no other file compares names of gates", () => {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  const compared = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) =>
      readFileSync(join(source, path), "utf8")
        .split("\n")
        .filter((line) => COMPARES.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(compared).toEqual([]);
});

const NAMES = `"(?:${GATES.join("|")})"`;
const COMPARES = [
  new RegExp(String.raw`\b(?:gate|gate\.name|name|reworkOf) [!=]== ${NAMES}`),
  new RegExp(String.raw`\bgates?\.(?:includes|has)\(${NAMES}\)`),
  new RegExp(String.raw`GateName(?:\[\]|>)[^=]*= .*${NAMES}`),
  /switch \((?:\w+\.)*gate(?:\.name)?\)/,
];
