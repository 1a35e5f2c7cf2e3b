import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { dashboardProject, type DashboardProject } from "../../web/dashboard-project.ts";
import type { DiffDocument } from "../../../src/views/story/diff-document.ts";
import { testInFull } from "../../sampled.ts";

/* A mark goes with the lines that were blamed: what a later attempt wrote at the same number is innocent. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
let project: DashboardProject;
afterEach(() => project.clear());

const PRICE = (above: string, percent: string): string =>
  `${above}export function price(items) {\n  return items.length;\n}\n\nexport function discount(total, percent) {\n  return Math.round((total * (100 ${percent} percent)) / 100);\n}\n`;
const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { discount, price } from "../src/price.js";

test("counts", () => assert.equal(price([1, 2]), 2));
test("takes a discount off", () => assert.equal(discount(1000, 10), 900));
`;
const INNOCENT = "// 1\n// 2\n// 3\n// 4\n// 5\nexport const innocent = true;\n";

const attempt = (text: string): object => ({ edit: { "src/price.js": text }, say: "READY_FOR_REVIEW: {story}\n" });

async function marksOf(...texts: readonly string[]): Promise<string[][]> {
  project = dashboardProject({
    "package.json": '{ "type": "module" }\n',
    "src/price.js": PRICE("", "-"),
    "test/price.test.js": TESTS,
    "stories/tidy.md": "---\ntitle: Tidy the prices\nstatus: ready\n---\n\nTidy them.\n",
    "agent-script.yaml": JSON.stringify({ version: 1, attempts: texts.map(attempt) }),
    "remand.yaml": `version: 1
preset: goal
agents:
  developer: { use: scripted, command: agent-script.yaml }
gates:
  checks: { commands: ["node --test"], failures: 2 }
stall: { sameFailure: 0, plateau: 0 }
`,
  });
  await project.run();
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "diff", "tidy", "--blame", "--json"], {
    cwd: project.repository.root,
    env: project.repository.env,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const { port, token } = await project.serve();
  const answer = await fetch(`http://127.0.0.1:${port}/api/stories/tidy/diff`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  return [JSON.parse(stdout) as DiffDocument, (await answer.json()) as DiffDocument].map(({ files }) =>
    files.flatMap(({ path, hunks }) =>
      hunks.flatMap(({ lines }) =>
        lines.flatMap(({ blames, line, text }) => blames.map(({ basis }) => `${basis} ${path}:${line}:${text}`)),
      ),
    ),
  );
}

test("a mark is gone with the line that was blamed, and is not on what stands at its number now", async () => {
  expect(await marksOf(PRICE("", "+"), PRICE(INNOCENT, "-"))).toEqual([[], []]);
}, 180_000);

testInFull(
  "a mark goes with a line that is moved, and stands there once",
  async () => {
    const mark = "proven src/price.js:12:  return Math.round((total * (100 + percent)) / 100);";
    expect(await marksOf(PRICE("", "+"), PRICE(INNOCENT, "+"))).toEqual([[mark], [mark]]);
  },
  180_000,
);
