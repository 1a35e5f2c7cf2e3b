import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { run, type Agent, type AgentRequest, type Event, type RunResult, type Stored } from "../../../src/index.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { startGithubServer, type GithubServer } from "../../kit/github-server.ts";
import { withPromptNonce } from "../../../src/agents/scripted/scripted-agent.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { testInFull } from "../../sampled.ts";

/*
 * S4's scenarios over whole runs, from a story's file to a pull request on a forge of our own on loopback. What the
 * phases do with their sections is in phases.test.ts.
 */

let repository: TestRepository;
let forge: GithubServer;
let lines: Stored[];
let prompts: { role: string; story: string; prompt: string }[];

const story = (id: string, more = ""): string =>
  `---\n# mine\ntitle: Round the ${id}\nstatus: ready\ntarget: "*"\n${more}---\n\nIn whole cents.\n\n## Acceptance Criteria\n\n- [ ] ${id}.txt says round\n`;

beforeEach(async () => {
  repository = makeRepository({ "prices.txt": "\n", "fees.txt": "\n", "stories/prices.md": story("prices") });
  const remote = join(repository.home, "acme", "shop.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote], { env: repository.env });
  repository.git("remote", "add", "origin", remote);
  forge = await startGithubServer();
  forge.on("GET /repos/acme/shop/pulls", { body: [] });
  let number = 0;
  const opened = () => ({
    status: 201,
    body: { number: ++number, html_url: `https://example.test/acme/shop/pull/${number}`, state: "open" },
  });
  forge.on("POST /repos/acme/shop/pulls", opened);
  lines = [];
  prompts = [];
});
afterEach(async () => {
  await forge.close();
  repository.clear();
});

/** What an agent answers, by how often it was asked for this story, and by its prompt. */
type Part = (turn: number, request: AgentRequest, story: string) => string;

const ready = (story: string, text: string): string => `${text}\n\nREADY_FOR_REVIEW: ${story}\n\nSummary: done\n`;
const writes =
  (section: string): Part =>
  (turn, _, story) =>
    ready(story, `## ${section}\n\n${section} ${turn} of ${story}.`);
/** The second review says of each finding what became of it. */
const answers = (prompt: string): string => {
  const earlier = prompt.includes("NOT ADDRESSED")
    ? new Set<string>(prompt.match(/\b[0-9a-f]{16}\b/g) ?? [])
    : new Set<string>();
  return earlier.size === 0
    ? ""
    : `Earlier Findings:\n${[...earlier].map((id) => `- ${id}: ADDRESSED - seen\n`).join("")}\n`;
};
const pass: Part = (_turn, { prompt }, story) => {
  const answered = answers(prompt);
  return answered === "" ? '{"passed": true, "issues": []}' : `${answered}REVIEW_PASSED: ${story}\n`;
};
const rejection = (description: string): string =>
  JSON.stringify({
    passed: false,
    issues: [
      { severity: "critical", category: "correctness", description, file: "prices.txt", suggestedFix: "Round it." },
    ],
    context: ["the shop rounds half up"],
  });
const inWords = (prompt: string, story: string, description: string): string =>
  `${answers(prompt)}REVIEW_FAILED: ${story}\n\nIssues Found:\n- prices.txt:1: ${description}\n\nRequired Fixes:\n- Round it.\n`;

/** Is it the code that is looked at? A second look goes on where the first began, and does not say so again. */
function codeSeen(): (request: AgentRequest, story: string) => boolean {
  const seen = new Set<string>();
  return ({ prompt }, story) => {
    if (prompt.includes("\nPhase: implement\n")) seen.add(story);
    return seen.has(story);
  };
}

/** Rejects the code so many times, each time for another reason, then passes it. */
const rejectsCode = (times: number, only = ""): Part => {
  const isCode = codeSeen();
  const said = new Map<string, number>();
  return (turn, request, story) => {
    const count = said.get(story) ?? 0;
    if (!isCode(request, story) || count >= times || !story.includes(only)) return pass(turn, request, story);
    said.set(story, count + 1);
    const reason = `reason ${count + 1} of ${story}`;
    return count === 0 ? rejection(reason) : inWords(request.prompt, story, reason);
  };
};

const ROLES: Readonly<Record<string, Part>> = {
  refiner: writes("Refinement"),
  researcher: writes("Research"),
  planner: writes("Implementation Plan"),
  developer: (turn, { cwd }, story) => {
    writeFileSync(join(cwd, `${story}.txt`), `round ${turn}\n`);
    return ready(story, "I wrote it.");
  },
  "security-reviewer": pass,
  "product-owner": pass,
  "code-reviewer": pass,
};

function agent(role: string, part: Part): Agent {
  return {
    name: role,
    run: (request) => {
      const id = request.key.replace(/:.*$/, "");
      const turn = prompts.filter((each) => each.role === role && each.story === id).length;
      prompts.push({ role, story: id, prompt: request.prompt });
      const text = part(turn, request, id);
      const session = request.session ?? { agent: role, id: `${role} for ${id}, ${turn}` };
      return Promise.resolve(agentResult({ text: withPromptNonce(text, request.prompt), session }));
    },
  };
}

const played = (parts: Readonly<Record<string, Part>>, set: readonly string[] = []): Promise<RunResult> =>
  run({
    root: repository.root,
    env: repository.env,
    agents: Object.fromEntries(Object.entries({ ...ROLES, ...parts }).map(([role, part]) => [role, agent(role, part)])),
    onLines: (more) => void lines.push(...more),
    config: {
      version: 1,
      preset: "story",
      gates: { checks: { commands: ["grep -qr round --include=*.txt ."] } },
      forge: { use: "github", api: forge.url },
      limits: { backoff: "1ms" },
    },
    set,
  });

const events = <T extends Event["type"]>(type: T, of: string): Extract<Event, { type: T }>[] =>
  lines.flatMap(({ event, story: id }) =>
    event.type === type && id === of ? [event as Extract<Event, { type: T }>] : [],
  );
const ownFile = (id: string): string => readFileSync(join(repository.root, `stories/${id}.md`), "utf8");
const fields = (id: string): Record<string, unknown> =>
  parse(ownFile(id).split(/^---$/m)[1] ?? "") as Record<string, unknown>;
const branchFile = (id: string): string => repository.git("show", `remand/${id}:stories/${id}.md`);
const given = (role: string, id: string): string[] =>
  prompts.filter((each) => each.role === role && each.story === id).map(({ prompt }) => prompt);
const proposals = (): { title: string; body: string; head: string }[] =>
  forge.asked.filter(({ method }) => method === "POST").map(({ body }) => body as never);

describe("S4's scenarios", () => {
  testInFull("1: a review catches a bug, it is fixed without a person, and the work is proposed", async () => {
    expect(await played({ "code-reviewer": rejectsCode(1) })).toMatchObject({ exitCode: 0 });
    expect(events("work.sent-back", "prices")).toMatchObject([{ gate: "review", failure: 1 }]);
    expect(fields("prices")).toMatchObject({ status: "done", refinement_count: 1, reviews_complete: true });
    const brief = given("developer", "prices")[1]!;
    for (const part of ["iteration 1/3", "reason 1 of prices", "Round it.", "the shop rounds half up"])
      expect(brief).toContain(part);
    const [proposal] = proposals();
    expect(proposal).toMatchObject({ title: "Round the prices", head: "remand/prices" });
    for (const part of ["prices.txt says round", "| review | pass | 1 |", "after the review gate sent it back"])
      expect(proposal!.body).toContain(part);
    expect(events("work.delivered", "prices")).toMatchObject([{ where: "https://example.test/acme/shop/pull/1" }]);
  });

  // S4.12, S4.16, S4.79
  test("2: every iteration is recorded, and each feedback stays in the story", async () => {
    expect(await played({ "code-reviewer": rejectsCode(2) })).toMatchObject({ exitCode: 0 });
    const { refinement_count, refinement_iterations } = fields("prices");
    expect(refinement_count).toBe(2);
    expect(refinement_iterations).toHaveLength(2);
    const text = branchFile("prices");
    const rounds = [1, 2].map((round) => text.indexOf(`reason ${round} of prices`));
    expect(rounds[0]).toBeGreaterThan(0);
    expect(rounds[1]).toBeGreaterThan(rounds[0]!);
    const briefs = given("developer", "prices");
    expect(briefs).toHaveLength(3);
    // What was tried before is told, so that it is not tried again.
    expect(briefs[2]).toContain("iteration 2/3");
    expect(briefs[2]).toContain("### Earlier Attempts");
  });

  test("3: the breaker stops one story at its limit, and the other goes on to its pull request", async () => {
    repository.write("stories/prices.md", story("prices", "max_refinement_attempts: 2\n"));
    repository.write("stories/fees.md", story("fees"));
    const result = await played({ "code-reviewer": rejectsCode(9, "prices") });
    expect(result.exitCode).toBe(4);
    expect(events("work.sent-back", "prices")).toHaveLength(2);
    expect(events("escalation.raised", "prices")).toHaveLength(1);
    expect(fields("prices")).toMatchObject({ status: "in-progress", refinement_count: 2 });
    expect(fields("prices")["last_error"]).toMatch(/\w/);
    expect(fields("fees")).toMatchObject({ status: "done" });
    expect(proposals().map(({ head }) => head)).toEqual(["remand/fees"]);
  });
});

describe("edge cases and consistency", () => {
  // S4.26
  testInFull("two stories are reworked at the same time, and neither has anything of the other", async () => {
    repository.write("stories/fees.md", story("fees"));
    expect(await played({ "code-reviewer": rejectsCode(2) })).toMatchObject({ exitCode: 0 });
    for (const [id, other] of [
      ["prices", "fees"],
      ["fees", "prices"],
    ] as const) {
      expect(fields(id)).toMatchObject({ status: "done", refinement_count: 2 });
      expect(branchFile(id)).toContain(`reason 2 of ${id}`);
      expect(branchFile(id)).not.toContain(`of ${other}`);
      expect(given("developer", id).join("\n")).not.toContain(`of ${other}`);
      expect(repository.git("show", `remand/${id}:${other}.txt`)).toBe("\n");
    }
    expect(
      proposals()
        .map(({ head }) => head)
        .sort(),
    ).toEqual(["remand/fees", "remand/prices"]);
  });

  // S4.82
  test("a person writes in the story's file meanwhile: both stay whole in either order", async () => {
    const note = "\nAda was here.\n";
    const developer: Part = (turn, request, id) => {
      if (turn === 1) writeFileSync(join(repository.root, "stories/prices.md"), ownFile("prices") + note);
      return ROLES["developer"]!(turn, request, id);
    };
    expect(await played({ developer, "code-reviewer": rejectsCode(2) })).toMatchObject({ exitCode: 0 });
    const text = ownFile("prices");
    expect(text.startsWith("---\n# mine\ntitle: Round the prices\n")).toBe(true);
    expect(text.endsWith(`- [ ] prices.txt says round\n${note}`)).toBe(true);
    expect(fields("prices")).toMatchObject({ status: "done", refinement_count: 2 });
    expect(fields("prices")["refinement_iterations"]).toHaveLength(2);
  });

  testInFull("a review in words is read as well; one that says nothing clear is no pass", async () => {
    const isCode = codeSeen();
    let asked = 0;
    const unsure: Part = (turn, request, id) => {
      if (!isCode(request, id) || asked === 2) return pass(turn, request, id);
      asked++;
      return asked === 1
        ? "Hm. I am not so sure about this one, it might be good."
        : inWords(request.prompt, id, "it is not rounded");
    };
    expect(await played({ "code-reviewer": unsure })).toMatchObject({ exitCode: 0 });
    expect(given("developer", "prices")[1]).toContain("it is not rounded");
    expect(fields("prices")).toMatchObject({ refinement_count: 1 });
  });
});
