import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeProject, wait, works, type Project } from "../critic-audit-project.ts";
import { startGithubServer } from "../../kit/github-server.ts";
import { testInFull } from "../../sampled.ts";

/* From accepted work to the branch it is for: real git, real merges, a forge on loopback, CI by command. */

let project: Project;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.clear());

const CHECKED = "gates.checks.commands=[node --test]";

const MERGES = [
  CHECKED,
  "phases.implement=[integrity, checks, merge]",
  "deliver=merge",
  "merge=auto",
  "autonomy=full",
] as const;

describe("merging", () => {
  test("the work is merged, and the person's checkout follows", async () => {
    project.story("cap");
    const result = await project.run({ developer: [works("// one")] }, { set: MERGES });
    expect(result).toMatchObject({ exitCode: 0, stories: [{ id: "cap", status: "accepted" }] });
    expect(project.repository.git("show", "main:src/wait.js")).toContain("// one");
    expect(readFileSync(join(project.repository.root, "src/wait.js"), "utf8")).toContain("// one");
    expect(project.events("work.delivered")[0]).toMatchObject({
      how: "merge",
      where: expect.stringMatching(/^main at /),
    });
    const judged = project.events("attempt.finished")[0]!.tree;
    expect(project.repository.git("rev-parse", "main^{tree}").trim()).toBe(judged);
  });

  test("below full autonomy a person merges", async () => {
    project.story("cap");
    const result = await project.run(
      { developer: [works("// one")] },
      { set: ["phases.implement=[integrity, checks, merge]", "deliver=merge"] },
    );
    expect(result).toMatchObject({
      exitCode: 4,
      stories: [{ question: { reason: { type: "approval", of: "merge" } } }],
    });
    expect(project.repository.git("show", "main:src/wait.js")).not.toContain("// one");
  });

  // S1.50
  test("of two stories the second is brought up to the first, run through the gates again, and merged on top of it", async () => {
    project.story("one");
    project.story("two");
    const result = await project.run(
      {
        "developer/one": [{ edit: { "src/one.js": "export const one = 1;\n" }, say: "READY_FOR_REVIEW: one\n" }],
        "developer/two": [{ edit: { "src/two.js": "export const two = 2;\n" }, say: "READY_FOR_REVIEW: two\n" }],
      },
      { set: MERGES },
    );
    expect(result).toMatchObject({ exitCode: 0 });
    expect(project.repository.git("ls-tree", "--name-only", "main", "src/")).toBe(
      "src/one.js\nsrc/two.js\nsrc/wait.js\n",
    );
    const updated = project.events("branch.updated");
    expect(updated).toHaveLength(1);
    expect(updated[0]).toMatchObject({ conflicts: [] });
    const later = updated[0]!.changed[0] === "src/one.js" ? "two" : "one";
    expect(project.verdicts(later).filter((verdict) => verdict === "checks pass")).toHaveLength(2);
    expect(project.verdicts(later).at(-1)).toBe("merge pass");
  });

  testInFull("a conflict goes back to the agent with the marks in the file, and is resolved there", async () => {
    project.story("one");
    project.story("two", "depends_on: [one]\n");
    const resolved = { "src/wait.js": wait("// two and main") };
    let moved = false;
    const result = await project.run(
      {
        "developer/one": [works("// one")],
        "developer/two": [works("// two"), { edit: resolved, say: "READY_FOR_REVIEW: two\n" }],
      },
      {
        set: MERGES,
        onLines: (lines) => {
          project.lines.push(...lines);
          // While this one worked, another commit changed the same line on main.
          if (moved || !lines.some(({ story, event }) => story === "two" && event.type === "attempt.finished")) return;
          moved = true;
          project.repository.write("src/wait.js", wait("// another author"));
          project.repository.git("commit", "--quiet", "-am", "another author");
        },
      },
    );
    expect(result).toMatchObject({ exitCode: 0 });
    expect(project.verdicts("two")).toContain("merge fail");
    const brief = project.prompts("developer", "two")[1];
    expect(brief).toContain("### MERGE CHECK FAILED");
    expect(brief).toContain("src/wait.js");
    expect(project.events("branch.updated", "two").at(-1)).toMatchObject({ conflicts: ["src/wait.js"] });
    expect(project.repository.git("show", "main:src/wait.js")).toBe(wait("// two and main"));
  });
});

describe("a pull request", () => {
  const PROPOSES = [CHECKED, "phases.implement=[integrity, checks]", "deliver=pull-request"] as const;

  test("without a forge there is the branch, and a text that is ready to be used", async () => {
    project.story("cap");
    await project.run({ developer: [works("// one")] }, { set: PROPOSES });
    expect(project.events("work.delivered")[0]?.where).toContain("remand/cap; the text of its pull request is ");
  });

  test("is opened on the forge, with what was asked, what judged it and how it came about", async () => {
    const forge = await startGithubServer();
    const remote = join(project.repository.home, "acme", "shop.git");
    execFileSync("git", ["init", "--quiet", "--bare", remote], { env: project.repository.env });
    project.repository.git("remote", "add", "origin", remote);
    forge.on("GET /repos/acme/shop/pulls", { body: [] });
    const opened = { number: 7, html_url: "https://example.test/pull/7", state: "open" };
    forge.on("POST /repos/acme/shop/pulls", { status: 201, body: opened });
    const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    project.story("cap");
    const result = await project.run(
      { developer: [{ ...works("// bad"), edit: { "src/wait.js": "export const waitMs = 1;\n" } }, works("// good")] },
      {
        set: [...PROPOSES, "forge.use=github", `forge.api=${forge.url}`],
        env: { ...project.repository.env, GITHUB_TOKEN: token },
      },
    );
    expect(result).toMatchObject({ exitCode: 0 });
    expect(project.events("work.delivered")[0]?.where).toBe("https://example.test/pull/7");
    expect(project.repository.git("ls-remote", "origin", "refs/heads/remand/cap")).not.toBe("");
    expect(project.repository.git("ls-remote", "origin", "refs/remand/receipts/*")).toMatch(/-acceptance-.*-cap$/m);
    const { body, headers } = forge.asked.find(({ method }) => method === "POST")!;
    expect(headers.authorization).toBe(`Bearer ${token}`);
    expect(body).toMatchObject({ head: "remand/cap", base: "main", title: "Cap the wait (cap)" });
    const text = (body as { body: string }).body;
    for (const part of ["Give the wait a cap.", "| checks | pass | 1 |", "after the checks gate sent it back"])
      expect(text).toContain(part);
    expect(JSON.stringify(project.lines)).not.toContain(token);
    await forge.close();
  });
});

describe("CI by command", () => {
  const ci = (...more: string[]) => [CHECKED, "phases.implement=[integrity, checks, ci]", ...more];
  const judged = () =>
    project
      .events("gate.judged")
      .filter(({ judgement }) => judgement.gate === "ci")
      .map(({ judgement }) => `${judgement.result} ${judgement.ciClass ?? "-"}`);

  test("a test failure is charged to the checks, and goes back", async () => {
    project.story("cap");
    const fails = "! grep -q bad src/wait.js || { echo '1 failing'; echo 'AssertionError: no cap'; exit 1; }";
    await project.run(
      { developer: [works("// bad"), works("// good")] },
      { set: ci(`gates.ci.commands=[${JSON.stringify(fails)}]`) },
    );
    expect(judged()).toEqual(["fail test", "pass -"]);
    expect(project.events("work.sent-back")[0]).toMatchObject({ gate: "ci", failure: 1 });
  });

  testInFull("infrastructure trouble is run again, without a charge", async () => {
    project.story("cap");
    const once =
      "test -e ../../ran-once || { touch ../../ran-once; echo 'fatal: unable to access: Could not resolve host: github.com'; exit 128; }";
    const result = await project.run(
      { developer: [works("// good")] },
      { set: ci(`gates.ci.commands=[${JSON.stringify(once)}]`) },
    );
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 1 }] });
    expect(judged()).toEqual(["fail infrastructure", "pass -"]);
    expect(project.events("work.sent-back")).toEqual([]);
  });

  test("lint is fixed by a command before an agent is asked", async () => {
    project.story("cap");
    const lint =
      "grep -q ';$' src/wait.js && ! grep -q '  // long$' src/wait.js || { echo '✖ 1 problem (1 error, 0 warnings)'; exit 1; }";
    const result = await project.run(
      { developer: [works("// long")] },
      {
        set: ci(`gates.ci.commands=[${JSON.stringify(lint)}]`, "gates.ci.fix=sed -i '/long$/d' src/wait.js"),
      },
    );
    expect(result).toMatchObject({ exitCode: 0, stories: [{ attempts: 1 }] });
    expect(judged()).toEqual(["fail lint", "pass -"]);
    expect(project.events("lint.fixed")[0]).toMatchObject({ changed: ["src/wait.js"] });
  });
});
