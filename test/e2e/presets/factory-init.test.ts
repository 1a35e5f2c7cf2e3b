import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";

/* What `remand init --preset factory` writes is run as it is: only the agents are replaced by scripts. */

let repository: TestRepository | null = null;
afterEach(() => repository?.clear());

function remand(...args: readonly string[]): { status: number | null; out: string } {
  const { root, env } = repository!;
  const ran = spawnSync(process.execPath, [join(process.cwd(), "dist/main.js"), ...args], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  return { status: ran.status, out: `${ran.stdout}${ran.stderr}` };
}

const TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { cap } from "../src/cap.js";
test("above", () => assert.equal(cap(7, 5), 5));
test("below", () => assert.equal(cap(3, 5), 3));
`;

/** The pair forgets the test at first, in a project that has none. */
const AGENTS = `version: 1
parts:
  - match: { role: tdd-pair }
    attempts:
      - edit: { src/cap.js: "export const cap = (value, limit) => (value > limit ? limit : value);\\n" }
        say: "READY_FOR_REVIEW: cap"
      - edit: { test/cap.test.js: ${JSON.stringify(TEST)} }
        say: "READY_FOR_REVIEW: cap"
  - attempts:
      - say: "REVIEW_PASSED: cap"
`;

// S1.2, S1.5, S1.20
test("a project without tests goes back as RED, and passes every gate that init has put in", () => {
  // It ends as pytest and Vitest do where there is no test at all.
  const run = `node -e "process.exit(require('node:fs').existsSync('test') ? 0 : (console.log('No tests found, exiting with code 1'), 1))" && node --test`;
  repository = makeRepository({
    "package.json": JSON.stringify({ type: "module", scripts: { test: run, lint: "node --check src/sum.js" } }),
    "src/sum.js": "export const sum = (a, b) => a + b;\n",
    "stories/cap.md":
      "---\ntitle: Cap a number\nstatus: ready\n---\n\nA cap.\n\n## Acceptance criteria\n\n- [ ] cap(7, 5) is 5\n",
    "agents.yaml": AGENTS,
  });
  expect(remand("init", "--preset", "factory", "--yes")).toMatchObject({ status: 0 });
  const path = join(repository.root, "remand.yaml");
  const written = readFileSync(path, "utf8");
  expect(written).toContain("  implement: [integrity, tdd, review, ci, merge]\n");
  expect(written).toContain("  # mutation is left out of phases: no mutation tool was found here.");
  expect(written).toContain("  ci:\n    commands:\n      - npm run lint\n");
  writeFileSync(path, written.replaceAll("use: claude", "use: scripted, command: agents.yaml"));
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--message", "factory");

  const doctor = remand("doctor");
  expect(doctor.out).toMatch(/ok +tdd: 1 command\n.*ok +ci: 1 command/);
  const ran = remand("run", "--reporter", "default");
  expect(ran.out).toContain("no test was written for this story");
  expect(ran.out).toContain("may it be merged");
  expect(ran.status).toBe(4);
  const brief = remand("brief", "cap").out;
  expect(brief).toContain("Phase that failed: RED. The test was wrong: it is missing");
  expect(brief).toMatch(/^3\. RED: .*\n4\. DOMAIN: .*\n5\. GREEN: .*\n6\. COMMIT: /m);

  const bare = remand("run", "--set", "phases.implement=[integrity, tdd, mutation]", "--reporter", "default");
  expect(bare.status).toBe(2);
  expect(bare.out).toMatch(
    /the mutation gate has no command[\s\S]*npx stryker run[\s\S]*phases\.implement=\[integrity, tdd\]/,
  );
});
