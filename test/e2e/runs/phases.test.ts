import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { run, type RunResult } from "../../../src/compose/library.ts";
import type { ConfigPart } from "../../../src/config/config.ts";
import type { Agent, AgentRequest, AgentResult } from "../../../src/ports/agent.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { checkoutOf } from "../checkout.ts";
import { withPromptNonce } from "../../../src/agents/scripted/scripted-agent.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { testInFull } from "../../sampled.ts";

/** S4, end to end: four phases, each reviewed because the config says so, with real git and real files; agents and reviewers are scripted. */

const STORY = `---
# mine
title: Round the prices
status: ready   # go
target: "*"
---

# Round the prices

A price has two digits.\x20\x20

## Acceptance Criteria

- [ ] answer.txt says round
`;
const BODY = STORY.slice(STORY.indexOf("---\n\n#"));

/** What an agent says and does, by the prompt and by how often it was asked. */
type Part = (prompt: string, turn: number, request: AgentRequest) => string | Promise<string>;

interface Played {
  readonly result: RunResult;
  readonly lines: readonly StoredEvent[];
  readonly notices: readonly string[];
  /** Prompts by role, in their order. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  readonly root: string;
  git(...args: string[]): string;
  /** The story's file: on its branch, and as the person has it. */
  branchFile(): string;
  ownFile(): string;
}

async function played(
  parts: Readonly<Record<string, Part>>,
  options: { story?: string; config?: ConfigPart; root?: string } = {},
): Promise<Played> {
  const root = options.root ?? checkout(options.story ?? STORY);
  const lines: StoredEvent[] = [];
  const notices: string[] = [];
  const prompts = new Map<string, string[]>();
  const agents = Object.fromEntries(
    Object.entries({ ...AUTHORS, ...REVIEWERS, ...parts }).map(([role, part]) => [role, agentOf(role, part, prompts)]),
  );
  const result = await run({
    root,
    config: { ...CONFIG, ...options.config },
    agents,
    onLines: (more) => void lines.push(...more),
    onNotice: (text) => void notices.push(text),
  });
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  return {
    result,
    lines,
    notices,
    prompts,
    root,
    git,
    branchFile: () => git("show", "remand/prices:stories/prices.md"),
    ownFile: () => readFileSync(join(root, "stories/prices.md"), "utf8"),
  };
}

const CONFIG: ConfigPart = {
  version: 1,
  preset: "story",
  deliver: "branch",
  phases: { refine: ["integrity", "review"], research: ["integrity", "review"], plan: ["integrity", "review"] },
  gates: { checks: { commands: ["grep -q round answer.txt"] } },
  limits: { backoff: "1ms" },
};

const checkout = (story: string, ignored = ""): string =>
  checkoutOf({ "stories/prices.md": story, "answer.txt": "nothing\n", ".gitignore": ignored });

function agentOf(role: string, part: Part, prompts: Map<string, string[]>): Agent {
  return {
    name: role,
    run: async (request): Promise<AgentResult> => {
      const earlier = prompts.get(role) ?? [];
      prompts.set(role, [...earlier, request.prompt]);
      const text = await part(request.prompt, earlier.length, request);
      const session = request.session ?? { agent: role, id: `of ${role}, begun at turn ${earlier.length}` };
      return agentResult({ text: withPromptNonce(text, request.prompt), session });
    },
  };
}

const ready = (text: string): string => `Here it is.\n\n${text}\n\nREADY_FOR_REVIEW: prices\n\nSummary: done\n`;
const section =
  (heading: string, ...versions: readonly string[]): Part =>
  (_, turn) =>
    ready(`## ${heading}\n\n${versions[Math.min(turn, versions.length - 1)]}`);
const implementing: Part = (_prompt, turn, { cwd }) => {
  writeFileSync(join(cwd, "answer.txt"), `round ${turn}\n`);
  return ready("I wrote it.");
};

const AUTHORS: Readonly<Record<string, Part>> = {
  refiner: section("Refinement", "As a buyer I see two digits."),
  researcher: section("Research", "Prices are in answer.txt."),
  planner: section("Implementation Plan", "1. Round them."),
  developer: implementing,
};

/** The first look is answered in JSON; the second review says of each finding what became of it. */
const pass: Part = (prompt) => {
  const earlier = prompt.includes("NOT ADDRESSED") ? (prompt.match(/\b[0-9a-f]{16}\b/g) ?? []) : [];
  if (earlier.length === 0) return '{"passed": true, "issues": []}';
  return `Earlier Findings:\n${earlier.map((id) => `- ${id}: ADDRESSED - seen\n`).join("")}\nREVIEW_PASSED: prices\n`;
};
const reject = (category: string, description: string): string =>
  JSON.stringify({
    passed: false,
    issues: [{ severity: "critical", category, description, suggestedFix: "Look again." }],
    context: ["the shop rounds half up"],
  });
const REVIEWERS: Readonly<Record<string, Part>> = {
  "security-reviewer": pass,
  "product-owner": pass,
  "code-reviewer": pass,
};
/** Rejects the first review of a phase, and nothing after it. */
const rejecting = (phase: string, verdict: string): Part => {
  let isDone = false;
  return (prompt, turn, request) => {
    if (isDone || !prompt.includes(`\nPhase: ${phase}\n`)) return pass(prompt, turn, request);
    isDone = true;
    return verdict;
  };
};

/** Every attempt, in order: `research`, or `research!` where it is a rework. */
const attempts = ({ lines }: Played): string[] =>
  lines.flatMap(({ event }) =>
    event.type === "attempt.started" ? [`${event.phase}${event.reworkOf === null ? "" : "!"}`] : [],
  );

function fieldsOf(text: string): Record<string, unknown> {
  return parse(text.split(/^---$/m)[1] ?? "") as Record<string, unknown>;
}

describe("phases", () => {
  // S4.99
  it("go in their order, each product in its section on the branch, and each later phase is given the earlier ones", async () => {
    const ran = await played({});
    expect(ran.result.exitCode).toBe(0);
    expect(attempts(ran)).toEqual(["refine", "research", "plan", "implement"]);
    expect(ran.branchFile()).toBe(
      `${STORY}
## Refinement

<!-- remand: refine -->

As a buyer I see two digits.

## Research

<!-- remand: research -->

Prices are in answer.txt.

## Implementation Plan

<!-- remand: plan -->

1. Round them.
`,
    );
    const [developer] = ran.prompts.get("developer")!;
    for (const words of ["| As a buyer I see two digits.", "| Prices are in answer.txt.", "| 1. Round them."])
      expect(developer).toContain(words);
    expect(ran.prompts.get("researcher")![0]).toContain("| As a buyer I see two digits.");
    expect(ran.prompts.get("researcher")![0]).not.toContain("1. Round them.");
    // Each reviewer is shown the section, and nothing else of the file.
    const reviews = ran.prompts.get("code-reviewer")!;
    expect(reviews).toHaveLength(4);
    expect(reviews[1]).toContain("| Prices are in answer.txt.");
    expect(reviews[1]).not.toContain("| A price has two digits.");
    expect(reviews[3]).toContain("| +round 0");
    // The person's own file has S4's fields, and every other byte as it was.
    expect(ran.ownFile()).toContain("# mine\ntitle: Round the prices\n");
    expect(ran.ownFile().endsWith(BODY)).toBe(true);
    expect(fieldsOf(ran.ownFile())).toMatchObject({
      status: "done",
      research_complete: true,
      plan_complete: true,
      implementation_complete: true,
      reviews_complete: true,
    });
    expect(ran.git("status", "--porcelain")).toBe(" M stories/prices.md\n");
    // Those fields are not uncommitted work.
    expect(ran.notices).toEqual([]);
  });

  it("a review that rejects the research sends it back with its section, and the plan is made from the new one", async () => {
    const ran = await played({
      researcher: section("Research", "Prices are in answer.txt.", "Prices are in answer.txt, and in the cents."),
      "code-reviewer": rejecting("research", reject("completeness", "the cents are not looked at")),
    });
    expect(ran.result.exitCode).toBe(0);
    expect(attempts(ran)).toEqual(["refine", "research", "research!", "plan", "implement"]);
    const brief = ran.prompts.get("researcher")![1]!;
    expect(brief).toContain("## Rework: research phase, iteration 1/3");
    expect(brief).toContain("the cents are not looked at");
    expect(brief).toContain("the section Research as it stands");
    expect(brief).toContain("| Prices are in answer.txt.\n");
    expect(brief).toContain("the shop rounds half up");
    expect(brief).toContain("You may change only:\n- stories/prices.md");
    expect(ran.prompts.get("planner")![0]).toContain("| Prices are in answer.txt, and in the cents.");
    const file = ran.branchFile();
    expect(file.startsWith(STORY)).toBe(true);
    expect(file.match(/^## Research$/gm)).toHaveLength(1);
    expect(file).toMatch(/^## Refinement Notes\n\n### Iteration 1: research\n\n> Result: .*\n/m);
    expect(file).toContain("> - ");
    expect(fieldsOf(ran.ownFile())).toMatchObject({ refinement_count: 1 });
    expect(fieldsOf(ran.ownFile())["refinement_iterations"]).toMatchObject([
      { iteration: 1, agentType: "research", result: "success" },
    ]);
    expect(fieldsOf(ran.ownFile())["last_error"]).toBeUndefined();
  });

  testInFull("keep the person's file up to date while they go on", async () => {
    const root = checkout(STORY);
    const file = (): string => readFileSync(join(root, "stories/prices.md"), "utf8");
    const says = (fields: Record<string, unknown>): Promise<void> =>
      vi.waitFor(() => expect(fieldsOf(file())).toMatchObject(fields), { timeout: 60_000, interval: 20 });
    const ran = await played(
      {
        researcher: async (_prompt, turn) => {
          if (turn === 1) {
            const iteration = { iteration: 1, agentType: "research", result: "in_progress" };
            await says({ status: "in-progress", research_complete: false, refinement_iterations: [iteration] });
          }
          return ready(`## Research\n\nVersion ${turn}.`);
        },
        planner: async () => {
          const iteration = { iteration: 1, result: "success", reviewFeedback: expect.stringContaining("too thin") };
          await says({ research_complete: true, plan_complete: false, refinement_iterations: [iteration] });
          return ready("## Implementation Plan\n\n1. Round them.");
        },
        "code-reviewer": rejecting("research", reject("completeness", "too thin")),
      },
      { root },
    );
    expect(ran.result.exitCode).toBe(0);
    expect(file().endsWith(BODY)).toBe(true);
  });

  testInFull(
    "a finding about the research, in the review of the plan, undoes both: the plan is made again from the new research",
    async () => {
      const ran = await played({
        researcher: section("Research", "First.", "Second."),
        planner: section("Implementation Plan", "1. By the first.", "1. By the second."),
        "product-owner": rejecting("plan", reject("research", "the research misses the currency")),
      });
      expect(ran.result.exitCode).toBe(0);
      expect(attempts(ran)).toEqual(["refine", "research", "plan", "research!", "plan", "implement"]);
      const again = ran.prompts.get("planner")![1]!;
      expect(again).toContain("| Second.");
      expect(again).toContain("Implementation Plan, from the last time this was done");
      expect(again).toContain("| 1. By the first.");
      expect(ran.branchFile()).toContain("1. By the second.");
      expect(ran.branchFile()).not.toContain("By the first.");
    },
  );

  testInFull(
    "a finding about the architecture, in the review of the code, sends the plan back, and the code is written again",
    async () => {
      const ran = await played({
        planner: section("Implementation Plan", "1. Here.", "1. There."),
        "code-reviewer": rejecting("implement", reject("architecture", "it belongs into the shop, not here")),
      });
      expect(ran.result.exitCode).toBe(0);
      expect(attempts(ran)).toEqual(["refine", "research", "plan", "implement", "plan!", "implement"]);
      const sent = ran.lines.flatMap(({ event }) => (event.type === "work.sent-back" ? [event] : []));
      expect(sent).toMatchObject([{ gate: "review", route: { phase: "plan", role: "planner" } }]);
      expect(ran.prompts.get("developer")![1]).toContain("| 1. There.");
      expect(ran.prompts.get("developer")![1]).toContain(
        "attempt 4 did this phase before, and its work is still there",
      );
      expect(fieldsOf(ran.ownFile())["refinement_iterations"]).toMatchObject([
        { agentType: "plan", result: "success" },
      ]);
    },
  );

  testInFull("start behind those that the story's file calls complete, with what is written there", async () => {
    const story = STORY.replace("status: ready", "research_complete: true\nstatus: ready").concat(
      "\n## Research\n\nFrom another tool.\n",
    );
    const ran = await played({}, { story });
    expect(ran.result.exitCode).toBe(0);
    expect(attempts(ran)).toEqual(["plan", "implement"]);
    const [planner] = ran.prompts.get("planner")!;
    expect(planner).toContain("| From another tool.");
    // Once, as a product, and not once more in the goal.
    expect(planner!.split("From another tool.")).toHaveLength(2);
    expect(ran.branchFile().startsWith(story)).toBe(true);
  });

  testInFull("the story's own limit counts reworks, and the question, and the file, say why it ended", async () => {
    const story = STORY.replace("status: ready", "max_refinement_attempts: 1\nstatus: ready");
    const ran = await played(
      {
        researcher: (_prompt, turn) => ready(`## Research\n\nVersion ${turn}.`),
        "code-reviewer": (prompt, turn, request) => {
          const id = /\b[0-9a-f]{16}\b/.exec(prompt)?.[0];
          if (prompt.includes("NOT ADDRESSED"))
            return `REVIEW_FAILED: prices\n\nEarlier Findings:\n- ${id}: NOT ADDRESSED - no\n\nIssues Found:\n- stories/prices.md:20: there is still a gap\n`;
          return prompt.includes("\nPhase: research\n")
            ? reject("completeness", "there is a gap")
            : pass(prompt, turn, request);
        },
      },
      { story },
    );
    expect(ran.result.exitCode).toBe(4);
    expect(attempts(ran)).toEqual(["refine", "research", "research!"]);
    expect(ran.result.stories[0]!.question?.reason).toMatchObject({ budget: "failures:review", used: 2, limit: 2 });
    expect(fieldsOf(ran.ownFile())).toMatchObject({
      status: "in-progress",
      research_complete: false,
      max_refinement_attempts: 1,
      refinement_count: 1,
    });
    expect(fieldsOf(ran.ownFile())["refinement_iterations"]).toMatchObject([{ result: "failed" }]);
    expect(String(fieldsOf(ran.ownFile())["last_error"])).toContain("review");
  });
});

describe("the person's text", () => {
  it("stays as it was, whatever an agent writes into the file; the section that it wrote is its product", async () => {
    const mine = STORY.concat("\n## Research\n\nMy own notes: ask Ann.\n");
    const ran = await played(
      {
        researcher: (_prompt, _turn, { cwd }) => {
          const file = join(cwd, "stories/prices.md");
          const text = readFileSync(file, "utf8");
          writeFileSync(file, `${text.replace("two digits", "three digits")}\n## Research\n\nWritten by the agent.\n`);
          return ready("It is in the file.");
        },
      },
      { story: mine },
    );
    expect(ran.result.exitCode).toBe(0);
    expect(ran.branchFile().startsWith(mine)).toBe(true);
    expect(ran.branchFile()).toContain("## Research\n\n<!-- remand: research -->\n\nWritten by the agent.\n");
    expect(ran.branchFile()).not.toContain("three digits");
    expect(ran.prompts.get("planner")![0]).toContain("| Written by the agent.");
  });

  testInFull("an agent that gives no section is asked for it, in the same conversation", async () => {
    const conversations: (string | undefined)[] = [];
    const ran = await played({
      researcher: (_prompt, turn, { session }) => {
        conversations.push(session?.id);
        return ready(turn === 0 ? "I looked." : "## Research\n\nHere.");
      },
    });
    expect(conversations).toEqual([undefined, "of researcher, begun at turn 0"]);
    expect(ran.result.exitCode).toBe(0);
    expect(attempts(ran)).toEqual(["refine", "research", "plan", "implement"]);
    expect(ran.prompts.get("researcher")![1]).toContain('the section "## Research" has to be in the message');
    expect(ran.branchFile()).toContain("\nHere.\n");
  });

  it("code that is changed in a phase whose product is text is out of scope, until it is put back", async () => {
    const ran = await played({
      researcher: (_prompt, turn, { cwd }) => {
        if (turn === 0) writeFileSync(join(cwd, "answer.txt"), "round already\n");
        if (turn === 2) writeFileSync(join(cwd, "answer.txt"), "nothing\n");
        return ready(`## Research\n\nVersion ${turn}.`);
      },
    });
    expect(attempts(ran)).toEqual(["refine", "research", "research!", "research!", "plan", "implement"]);
    const judged = ran.lines.flatMap(({ event }) =>
      event.type === "gate.judged" && event.judgement.result === "fail" ? [event.judgement] : [],
    );
    const breach = { gate: "integrity", findings: [{ file: "answer.txt" }] };
    expect(judged).toMatchObject([breach, breach]);
    expect(ran.result.exitCode).toBe(0);
  });

  it("a story's file that git ignores is reported as blocking, and no work is called done", async () => {
    const root = checkout(STORY, "stories/\n");
    const ran = await played({}, { root });
    expect(ran.result.exitCode).toBe(4);
    const question = ran.result.stories[0]!.question!;
    expect(question.reason.type).toBe("gate-error");
    expect(question.assessment).toContain("git ignores stories/prices.md");
    expect(ran.lines.some(({ event }) => event.type === "attempt.finished")).toBe(false);
  });

  testInFull("a rework that gives the same section again changed nothing, and the loop ends at a person", async () => {
    const ran = await played({
      "code-reviewer": rejecting("research", reject("completeness", "too thin")),
    });
    expect(attempts(ran)).toEqual(["refine", "research", "research!"]);
    expect(ran.result.stories[0]!.question?.reason).toMatchObject({ type: "stall", stall: "no-change" });
  });
});
