import { spawnSync } from "node:child_process";
import { describe, it } from "vitest";
import { maven } from "./compiled-projects.ts";
import { installPackage } from "./installed.ts";
import { expectNames, printedBy, type RunnerCase } from "./kit.ts";
import { counted, expectCounts } from "./line-counts.ts";
import { ava, doctest, jest, mocha, nodeTest, pytest, tape, vitest } from "./projects.ts";

const cases: readonly (readonly [spec: string, runner: string, projects: readonly Omit<RunnerCase, "modules">[]])[] = [
  ["jest@29", "jest", [jest.mixed, jest.broken]],
  ["jest@30", "jest", [jest.mixed, jest.broken]],
  ["mocha@10", "mocha", [mocha.mixed, { ...mocha.mixed, command: "npx mocha --parallel" }]],
  ["mocha@11", "mocha", [mocha.mixed, { ...mocha.mixed, command: "npx mocha --parallel" }]],
  ["mocha@12", "mocha", [mocha.mixed, { ...mocha.mixed, command: "npx mocha --parallel" }]],
  ["vitest@2", "vitest", [vitest.mixed, vitest.broken]],
  ["vitest@3", "vitest", [vitest.mixed, vitest.broken]],
  ["tape@5", "tape", [tape]],
  ["ava@6", "ava", [ava.mixed, ava.broken, { ...ava.mixed, command: "npx ava --tap" }]],
];

describe.for(cases)("%s", ([spec, runner, projects]) => {
  it.for(projects.map((project, number) => ({ project, title: `${project.command}, project ${number + 1}` })))(
    "$title",
    async ({ project }, { skip }) => {
      const found = installPackage(spec);
      if ("problem" in found) skip(found.problem);
      else await expectNames({ ...project, runner, modules: found.modules });
    },
  );
});

describe("lines that tests run", () => {
  it.for([
    ["ava@6", "ava", "npx ava"],
    ["ava@6", "ava", "npx ava --no-worker-threads"],
    ["jest@29", "jest", "npx jest"],
    ["jest@30", "jest", "npx jest"],
    ["vitest@2", "vitest", "npx vitest run"],
    ["vitest@3", "vitest", "npx vitest run --pool=threads"],
  ] as const)("%s, %s: %s", async ([spec, name, command], { skip }) => {
    const found = installPackage(spec);
    if ("problem" in found) skip(found.problem);
    else await expectCounts(counted[name], found.modules, command);
  });
});

describe("more of what is on this machine", () => {
  const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
  it("node:test, with reporters and destinations", () =>
    expectNames({
      ...nodeTest.mixed,
      runner: "node:test",
      command: "node --test --test-reporter=tap --test-reporter-destination=stdout",
    }));
  it("pytest, with a file that does not load", async ({ skip }) => {
    if (!has("pytest")) skip("pytest is not installed");
    await expectNames({ ...pytest.broken, runner: "pytest" });
  });
  it("doctest, by pytest", async ({ skip }) => {
    if (!has("pytest")) skip("pytest is not installed");
    await expectNames({ ...doctest, runner: "pytest" });
  });
  it("mvn test", async ({ skip }) => {
    if (!has("mvn")) skip("Maven is not installed");
    if (/Could not (?:resolve|transfer|find artifact)|could not be resolved/.test(await printedBy(maven)))
      skip("Maven cannot fetch JUnit or Surefire here");
    await expectNames({ ...maven, runner: "maven" });
  });
});
