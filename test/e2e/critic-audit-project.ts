import { createScriptedAgent } from "../../src/agents/scripted/scripted-agent.ts";
import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import {
  run,
  type Agent,
  type AgentRequest,
  type Event,
  type RunOptions,
  type RunResult,
  type Stored,
} from "../../src/index.ts";
import type { ScriptedAttempt } from "../../src/core/schemas/agent-script.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";

/** A request as an agent got it, and which role it played. */
export type Asked = AgentRequest & { readonly role: string; readonly story: string };

/** What a role does, call by call; for one story only where its name is `role/story`. */
export type Scripts = Readonly<Record<string, readonly ScriptedAttempt[]>>;

export interface Project {
  readonly repository: TestRepository;
  readonly asked: Asked[];
  readonly lines: Stored[];
  story(id: string, more?: string, criteria?: readonly string[]): void;
  run(scripts: Scripts, options?: Partial<RunOptions>): Promise<RunResult>;
  /** The events of one story, or of the project (`null`). */
  events<T extends Event["type"]>(type: T, story?: string | null): Extract<Event, { type: T }>[];
  /** `review fail`, `audit pass`, …, in their order, without integrity. */
  verdicts(story?: string): string[];
  /** What the developer of a story was given, attempt by attempt. */
  prompts(role: string, story?: string): string[];
  file(story: string, path: string): string;
  /** Called before an agent begins, and waited for. */
  onAsked: (asked: Asked) => Promise<void>;
  clear(): void;
}

export const CAP = "no wait is longer than 5000 ms";
export const OTHER = "the caller can give another cap";

const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { waitMs } from "../src/wait.js";

test("each wait is twice as long as the one before", () => {
  assert.deepEqual([1, 2, 3].map((retry) => waitMs(retry)), [100, 200, 400]);
});

test("it works in every flavour", () => {
  assert.notEqual(process.env.FLAVOUR ?? "none", waitMs.fails);
});
`;

/** A project with real tests, in a real repository. */
export function makeProject(): Project {
  const repository = makeRepository({
    "package.json": '{ "name": "waits", "private": true, "type": "module" }\n',
    "src/wait.js": wait(""),
    "test/wait.test.js": TESTS,
  });
  const asked: Asked[] = [];
  const lines: Stored[] = [];
  const ofStory = (story: string | null | undefined): Stored[] =>
    lines.filter((line) => story === undefined || line.story === story);
  const project: Project = {
    repository,
    asked,
    lines,
    story: (id, more = "", criteria = [CAP, OTHER]) =>
      repository.write(
        `stories/${id}.md`,
        `---\ntitle: Cap the wait (${id})\nstatus: ready\n${more}---\n\nGive the wait a cap.\n\n## Acceptance Criteria\n\n${criteria.map((text) => `- [ ] ${text}\n`).join("")}`,
      ),
    run: (scripts, options = {}) =>
      run({
        root: repository.root,
        env: repository.env,
        agents: agentsOf(scripts, asked, (one) => project.onAsked(one)),
        onLines: (more) => void lines.push(...more),
        ...options,
        config: CONFIG,
        set: ["limits.backoff=10ms", ...(options.set ?? [])],
      }),
    events: (type, story) =>
      ofStory(story).flatMap(({ event }) =>
        event.type === type ? [event as Extract<Event, { type: typeof type }>] : [],
      ),
    verdicts: (story) =>
      project
        .events("gate.judged", story)
        .filter(({ judgement }) => judgement.gate !== "integrity")
        .map(({ judgement }) => `${judgement.gate} ${judgement.result}`),
    prompts: (role, story) =>
      asked
        .filter((each) => each.role === role && (story === undefined || each.story === story))
        .map(({ prompt }) => prompt),
    file: (story, path) => repository.git("show", `remand/${story}:${path}`),
    onAsked: () => Promise.resolve(),
    clear: () => repository.clear(),
  };
  return project;
}

const CONFIG = {
  version: 1,
  preset: "critic-audit",
  gates: { checks: { commands: ["grep -q waitMs src/wait.js"] } },
} as const;

/** The project's own tests as the check, where it is about what they say; starting them takes its time. */
export const REAL_TESTS = "gates.checks.commands=[node --test]";

function agentsOf(scripts: Scripts, asked: Asked[], onAsked: Project["onAsked"]): Record<string, Agent> {
  const roles = [...new Set(Object.keys(scripts).map((name) => name.split("/")[0]!))];
  return Object.fromEntries(
    roles.map((role) => {
      const parts = Object.entries(scripts)
        .filter(([name]) => name.split("/")[0] === role)
        .map(([name, attempts]) => {
          const story = name.split("/")[1];
          return { ...(story === undefined ? {} : { match: { story } }), attempts: [...attempts] };
        });
      const agent = createScriptedAgent({ name: role, role, script: { parts }, clock: createSystemClock() });
      return [
        role,
        {
          name: role,
          run: async (request, control) => {
            const one = { ...request, role, story: request.key.replace(/:\d+$/, "") };
            asked.push(one);
            await onAsked(one);
            return agent.run(request, control);
          },
        } satisfies Agent,
      ];
    }),
  );
}

/** The helper's text; each round of a script brings another line, so that something changes. */
export function wait(line: string): string {
  return `export function waitMs(retry) {\n  ${line}\n  return 100 * 2 ** (retry - 1);\n}\n`;
}

/** A developer who changes the helper and says that it is done. */
export const works = (line: string, more = "", path = "src/wait.js"): ScriptedAttempt => ({
  edit: { [path]: wait(line) },
  say: `Did it: ${line}\n${more}\nREADY_FOR_REVIEW: {story}\n\nSummary: ${line}\n`,
  cost: 0.1,
});

export const reviewPassed: ScriptedAttempt = {
  say: "REVIEW_PASSED: {story}\n\nFiles Reviewed:\n- src/wait.js\n\nQuality Assessment:\n- Error handling: ADEQUATE\n\nSummary: reads well\n",
  cost: 0.02,
};

export const reviewFailed = (...issues: readonly string[]): ScriptedAttempt => ({
  say: `REVIEW_FAILED: {story}\n\nFiles Reviewed:\n- src/wait.js\n\nIssues Found:\n${issues.map((issue) => `- ${issue}\n`).join("")}\nRequired Fixes:\n- do something about it\n\nPriority: HIGH\n`,
  cost: 0.02,
});

export const auditPassed: ScriptedAttempt = {
  say: `AUDIT_PASSED: {story}\n\nVerification Results:\n- ${CAP}: VERIFIED - waitMs(20) is 5000\n- ${OTHER}: VERIFIED - waitMs(20, 900) is 900\n\nCommands Executed:\n- node --test (local): PASS\n\nSummary: all of it holds\n`,
  cost: 0.03,
};

export const auditFailed: ScriptedAttempt = {
  say: `AUDIT_FAILED: {story}\n\nFailed Criteria:\n- ${OTHER}: FAILED - there is no second argument\n\nIssues Found:\n- src/wait.js:1: waitMs takes one argument\n\nRequired Fixes:\n- add capMs\n\nPassing Criteria:\n- ${CAP}\n`,
  cost: 0.03,
};
