import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { maven } from "./compiled-projects.ts";
import { installed } from "./installed.ts";
import { expectNames, type RunnerCase } from "./kit.ts";
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
      const found = installed(spec);
      if ("problem" in found) skip(found.problem);
      else await expectNames({ ...project, runner, modules: found.modules });
    },
  );
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
    const jupiter = versionsIn("org/junit/jupiter/junit-jupiter-engine").find((version) =>
      versionsIn("org/junit/platform/junit-platform-launcher").includes(version.replace("5.", "1.")),
    );
    const surefire = versionsIn("org/apache/maven/plugins/maven-surefire-plugin").find((version) =>
      versionsIn("org/apache/maven/surefire/surefire-junit-platform").includes(version),
    );
    if (!has("mvn") || jupiter === undefined || surefire === undefined)
      skip("Maven, JUnit 5 or Surefire is not in the local repository");
    else await expectNames({ ...maven(jupiter, surefire), runner: "maven" });
  });
});

/** The versions that Maven has here with their files, the newest first; nothing is fetched. */
function versionsIn(path: string): string[] {
  const folder = join(homedir(), ".m2/repository", path);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((each) => existsSync(join(folder, each, `${path.split("/").at(-1)}-${each}.jar`)))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
}
