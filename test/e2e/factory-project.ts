import { createScriptedAgent } from "../../src/agents/scripted/scripted-agent.ts";
import { createSystemClock } from "../../src/adapters/clock/system-clock.ts";
import { run, type Agent, type Event, type RunOptions, type RunResult, type Stored } from "../../src/index.ts";
import type { ScriptedAttempt } from "../../src/core/schemas/agent-script.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";

/** What a role does, call by call; for one slice only where its name is `role/slice`. */
export type Scripts = Readonly<Record<string, readonly ScriptedAttempt[]>>;

export interface FactoryProject {
  readonly repository: TestRepository;
  /** The prompts of a role, in the order in which they came. */
  prompts(role: string): string[];
  /** The reviewers pass whatever they are shown, unless a script says otherwise. */
  run(scripts: Scripts, options: Pick<RunOptions, "config" | "set">): Promise<RunResult>;
  events<T extends Event["type"]>(type: T, slice?: string): Extract<Event, { type: T }>[];
}

/** A project of S1's: real tests in a real repository, and one slice, `cap`. */
export function makeFactoryProject(files: Readonly<Record<string, string>>): FactoryProject {
  const repository = makeRepository({
    "package.json": '{ "name": "caps", "private": true, "type": "module" }\n',
    "src/sum.js": "export const sum = (a, b) => a + b;\n",
    "test/sum.test.js": testFile("sum", "sum", "assert.equal(sum(1, 2), 3);"),
    "stories/cap.md": slice("cap"),
    ...files,
  });
  const lines: Stored[] = [];
  const asked: { role: string; prompt: string }[] = [];
  return {
    repository,
    prompts: (role) => asked.filter((each) => each.role === role).map(({ prompt }) => prompt),
    run(scripts, options) {
      const all = { "spec-reviewer": [passes], "code-reviewer": [passes], "domain-reviewer": [passes], ...scripts };
      const roles = new Set(Object.keys(all).map((name) => name.split("/")[0]!));
      const agents = [...roles].map((role) => agentOf(role, all, (prompt) => asked.push({ role, prompt })));
      return run({
        root: repository.root,
        env: repository.env,
        agents: Object.fromEntries(agents.map((agent) => [agent.name, agent])),
        onLines: (more) => void lines.push(...more),
        ...options,
      });
    },
    events: <T extends Event["type"]>(type: T, of = "cap") =>
      lines.flatMap(({ event, story }) =>
        event.type === type && story === of ? [event as Extract<Event, { type: T }>] : [],
      ),
  };
}

export const slice = (id: string, more = ""): string =>
  `---\ntitle: Cap a number (${id})\nstatus: ready\n${more}---\n\nA number is never above its cap.\n\n## Acceptance Criteria\n\n- [ ] cap(7, 5) is 5\n`;

export function testFile(name: string, imported: string, ...asserts: readonly string[]): string {
  return [
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    `import { ${imported} } from "../src/${name}.js";`,
    `test("${name}", () => {\n  ${asserts.join("\n  ")}\n});`,
    "",
  ].join("\n");
}

export const says = (files: Readonly<Record<string, string>>, summary = "did it"): ScriptedAttempt => ({
  edit: { ...files },
  say: `READY_FOR_REVIEW: {story}\n\nSummary: ${summary}\n`,
});
export const passes: ScriptedAttempt = { say: "REVIEW_PASSED: {story}\n\n{answers}\n\nSummary: reads well\n" };
export const rejects = (issue: string, fix = "fix it"): ScriptedAttempt => ({
  say: `REVIEW_FAILED: {story}\n\n{answers}\n\nIssues Found:\n- ${issue}\n\nRequired Fixes:\n- ${fix}\n`,
});

function agentOf(role: string, scripts: Scripts, onPrompt: (prompt: string) => void): Agent {
  const parts = Object.entries(scripts).flatMap(([name, attempts]) => {
    const [of, story] = name.split("/");
    return of === role ? [{ ...(story === undefined ? {} : { match: { story } }), attempts: [...attempts] }] : [];
  });
  // The first part that fits is played, so what is for one slice comes before what is for all.
  parts.sort((a, b) => Number("match" in b) - Number("match" in a));
  const scripted = createScriptedAgent({ name: role, role, script: { parts }, clock: createSystemClock() });
  return {
    name: role,
    run: async (request, control) => {
      onPrompt(request.prompt);
      const result = await scripted.run(request, control);
      // A second look answers each finding of the first, by the id that it was shown.
      const known = [...new Set(request.prompt.match(/\b[0-9a-f]{16}\b/g) ?? [])];
      return {
        ...result,
        text: result.text.replace("{answers}", known.map((id) => `${id}: ADDRESSED - seen`).join("\n")),
      };
    },
  };
}
