import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { testInFull } from "../../sampled.ts";

/* `remand blame` by itself, in a repository that knows nothing of Remand: real git, real runs. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
let repository: TestRepository;

const PRICE =
  "export function price(items) {\n  return items.reduce((sum, item) => sum + item.cents * item.count, 0);\n}\n\nexport function discount(total, percent) {\n  return Math.round((total * (100 - percent)) / 100);\n}\n";
const FORMAT = "export const format = (cents) => `${(cents / 100).toFixed(2)} EUR`;\n";
const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { discount, price } from "../src/price.js";
import { format } from "../src/format.js";

test("sums", () => assert.equal(price([{ cents: 100, count: 2 }]), 200));
test("takes a discount off", () => assert.equal(discount(1000, 10), 900));
test("formats", () => assert.equal(format(1234), "12.34 EUR"));
`;

beforeEach(() => {
  repository = makeRepository({
    "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/price.js": PRICE,
    "src/format.js": FORMAT,
    "test/price.test.js": TESTS,
  });
});
afterEach(() => repository.clear());

interface Answer {
  readonly kind: string;
  readonly proven: boolean;
  readonly hunks: readonly { readonly file: string; readonly start: number; readonly origin?: object }[];
  readonly runs: number;
}

function blame(...args: string[]): { exit: number | null; out: string; err: string; answer: Answer | null } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "blame", ...args], {
    cwd: repository.root,
    env: { ...repository.env },
    encoding: "utf8",
  });
  const answer = args.includes("--json") && stdout !== "" ? (JSON.parse(stdout) as Answer) : null;
  return { exit: status, out: stdout, err: stderr, answer };
}

const slip = (): void => repository.write("src/price.js", PRICE.replace("100 - percent", "100 + percent"));

describe("blame", () => {
  // S3.5, S3.21, S3.22, S3.23
  test("names the line that did it among others, and proves it; nothing of the person's is touched", () => {
    slip();
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    repository.write("NOTES.md", "notes\n");
    repository.write("src/format.js", FORMAT);
    repository.write("README.md", "put aside\n");
    repository.git("stash", "push", "--quiet", "--include-untracked", "--", "README.md");
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    const status = repository.git("status");
    const stash = repository.git("stash", "list");
    expect(stash).not.toBe("");
    const before = repository.standing();
    const { exit, answer } = blame("--check", "npm test", "--json");
    expect(exit).toBe(0);
    expect(answer).toMatchObject({ kind: "hunk", proven: true, hunks: [{ file: "src/price.js", start: 6 }] });
    expect(repository.standing()).toEqual(before);
    expect(repository.git("status")).toBe(status);
    expect(repository.git("stash", "list")).toBe(stash);
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  testInFull("tells a person the lines, why, the runs, and what else was considered", () => {
    slip();
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    const { out, err } = blame("--check", "npm test");
    expect(out).toContain("This change did it (proven)");
    expect(out).toContain("src/price.js:6 in discount\n  -   return Math.round((total * (100 - percent)) / 100);");
    expect(out).toContain("Also considered: src/format.js:1");
    expect(out).toMatch(/2 changes since the last commit, \d+ runs, [\d.]+ s/);
    expect(err).toContain("run base: without 2 of 2 changes");
  });

  testInFull("of two that broke two tests it names both; of two that break one only together, both as one", () => {
    slip();
    repository.write("src/format.js", FORMAT.replace("toFixed(2)", "toFixed(1)"));
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({ kind: "multi", proven: true });
  });

  test("by reading alone it runs nothing, and does not call it proven", () => {
    slip();
    const failed = spawnSync("npm", ["test"], { cwd: repository.root, env: { ...repository.env }, encoding: "utf8" });
    repository.write("failure.log", failed.stdout);
    const { exit, answer } = blame("--failure", "failure.log", "--no-prove", "--json");
    expect(exit).toBe(0);
    expect(answer).toMatchObject({ kind: "hunk", proven: false, runs: 0, hunks: [{ file: "src/price.js" }] });
  });

  testInFull("says of a failure that was there before that no change did it", () => {
    slip();
    repository.git("commit", "--quiet", "-am", "broken before");
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({ kind: "pre-existing", hunks: [] });
  });

  testInFull("takes a line back with the names that stay, where a rename and a slip are in one function", () => {
    const renamed = PRICE.replace(
      "return items.reduce((sum, item) => sum + item.cents * item.count, 0);",
      "let sum = 0;\n  for (const item of items) {\n    sum += item.cents * item.count;\n  }\n  return sum;",
    );
    repository.write("src/price.js", renamed);
    repository.git("commit", "--quiet", "-am", "a loop");
    const slipped = renamed
      .replaceAll(/\bsum\b/g, "result")
      .replace("item.cents * item.count", "item.cents + item.count");
    repository.write("src/price.js", slipped);
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({
      kind: "hunk",
      proven: true,
      hunks: [{ file: "src/price.js", start: 4 }],
    });
  });

  test("finds the slip in code that is new with its tests", () => {
    repository.write(
      "src/price.js",
      PRICE.replace(
        "export function discount",
        "export function withTax(total, percent) {\n  const tax = (total * percent) / 100;\n  return Math.round(total - tax);\n}\n\nexport function discount",
      ),
    );
    repository.write(
      "test/tax.test.js",
      'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { withTax } from "../src/price.js";\n\ntest("no tax on nothing", () => assert.equal(withTax(0, 20), 0));\ntest("adds tax", () => assert.equal(withTax(100, 20), 120));\n',
    );
    const { answer } = blame("--check", "node --test", "--json");
    expect(answer).toMatchObject({ kind: "slip", proven: false, hunks: [{ file: "src/price.js" }] });
  });

  testInFull("goes on with what is left where one failure hid another", () => {
    repository.write("src/price.js", PRICE.replace("100 - percent", "100 + percent"));
    repository.write("src/format.js", FORMAT.replace("export const format", "export const formatted"));
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({ kind: "multi", proven: true });
  });

  test("says of a test that is new and not met yet that the work is not done", () => {
    repository.write(
      "test/tax.test.js",
      'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { price } from "../src/price.js";\n\ntest("adds tax", () => assert.equal(price([{ cents: 100, count: 1 }], 20), 120));\n',
    );
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({ kind: "unmet" });
  });

  test("tells the commit of the change, and whose work it was: the story, the attempt, the role and the phase", () => {
    const commit = (message: string): string => {
      repository.git("commit", "--quiet", "--all", "--message", message);
      return repository.git("rev-parse", "HEAD").trim();
    };
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    commit("layout");
    slip();
    const whose = "Remand-Story: S-7\nRemand-Attempt: 2\nRemand-Phase: implement\nRemand-Role: developer";
    const wrong = commit(`S-7: discounts (attempt 2)\n\n${whose}\nRemand-Journal: ${"f".repeat(64)}`);
    repository.write("src/price.js", `// Prices.\n${PRICE.replace("100 - percent", "100 + percent")}`);
    commit("a remark");
    repository.write("NOTES.md", "notes\n");
    const args = ["--base", "HEAD~3", "--check", "npm test"];
    expect(blame(...args, "--json").answer?.hunks).toMatchObject([
      {
        file: "src/price.js",
        start: 7,
        origin: {
          commit: wrong,
          subject: "S-7: discounts (attempt 2)",
          story: "S-7",
          attempt: 2,
          role: "developer",
          phase: "implement",
        },
      },
    ]);
    const text = `from ${wrong.slice(0, 10)} "S-7: discounts (attempt 2)", story S-7, attempt 2 (developer, implement)`;
    expect(blame(...args, "--quiet").out).toContain(text);
  });

  testInFull("tells the commit that took lines away, and none of what is not committed yet", () => {
    repository.write("src/format.js", FORMAT.replace("cents /", "cents  /"));
    repository.git("commit", "--quiet", "--all", "--message", "layout");
    repository.write("src/price.js", PRICE.replace(/ {2}return Math[^\n]*\n/, ""));
    repository.git("commit", "--quiet", "--all", "--message", "too much");
    const gone = blame("--base", "HEAD~2", "--check", "node --test", "--json").answer;
    expect(gone).toMatchObject({ kind: "hunk", proven: true, hunks: [{ origin: { subject: "too much" } }] });
    repository.git("reset", "--quiet", "--soft", "HEAD~1");
    const loose = blame("--base", "HEAD~1", "--check", "node --test", "--json").answer;
    expect(loose?.hunks).toHaveLength(1);
    expect(loose?.hunks[0]).not.toHaveProperty("origin");
  });

  test("says so when the check passes, and when there is nothing to go by", () => {
    expect(blame("--check", "npm test")).toMatchObject({ exit: 0, out: expect.stringContaining("The check passes") });
    const { exit, err } = blame();
    expect(exit).toBe(2);
    expect(err).toContain('remand blame --check "npm test"');
  });

  test("killed in the middle of a proof it leaves the person's files alone, and the next one sweeps up", async () => {
    repository.write("README.md", "put aside\n");
    repository.git("stash", "push", "--quiet", "--include-untracked", "--", "README.md");
    slip();
    repository.write("NOTES.md", "notes\n");
    const seen = (): string[] => [repository.git("status"), repository.git("stash", "list")];
    const [status, stash] = seen();
    expect([status, stash]).toEqual([expect.stringContaining("NOTES.md"), expect.stringContaining("stash@{0}")]);
    const before = repository.standing();
    const child = spawn(process.execPath, [MAIN, "blame", "--check", "npm test"], {
      cwd: repository.root,
      env: { ...repository.env },
    });
    let said = "";
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (chunk: Buffer) => {
        said += String(chunk);
        if (said.includes("run base")) resolve();
      });
    });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(repository.standing()).toEqual(before);
    expect(seen()).toEqual([status, stash]);
    const checkouts = join(repository.home, ".local/state/remand/checkouts");
    const runs = join(checkouts, readdirSync(checkouts)[0]!, "runs");
    expect(readdirSync(runs)).not.toEqual([]);
    expect(blame("--check", "node --test", "--json").answer).toMatchObject({ kind: "hunk", proven: true });
    expect(readdirSync(runs)).toEqual([]);
    expect(seen()).toEqual([status, stash]);
  });
});
