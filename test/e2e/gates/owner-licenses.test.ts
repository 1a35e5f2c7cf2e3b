import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { startGithubServer, type GithubServer } from "../../kit/github-server.ts";
import { testInFull } from "../../sampled.ts";

/* A pull request changes a test that passed before, and its code owner approves it: through the built program. */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const RATES = "export const withTax = (cents) => Math.floor(cents * 1.2);\n";
const TESTS = `import assert from "node:assert/strict";
import test from "node:test";
import { withTax } from "../src/rates.js";
test("adds the tax", () => assert.equal(withTax(11), 13));
`;
const CONFIG = "version: 1\npreset: goal\ngates: { checks: { commands: [node --test] } }\n";
const NAME = "test/rates.test.js > adds the tax";
const REPO = "/repos/acme/shop";

let repository: TestRepository;
let forge: GithubServer;
beforeEach(async () => {
  forge = await startGithubServer();
  repository = makeRepository({
    "package.json": '{ "name": "shop", "private": true, "type": "module" }\n',
    "src/rates.js": RATES,
    "test/rates.test.js": TESTS,
    ".github/CODEOWNERS": "* @acme/everyone\n/test/ @ada\n/remand.yaml @ada\n",
    "remand.yaml": CONFIG,
  });
});
afterEach(async () => {
  await forge.close();
  repository.clear();
});

/** Commits the work on a branch, and checks out its merge into main, as GitHub does. */
function proposed(more: Readonly<Record<string, string>> = {}): { readonly head: string; readonly base: string } {
  const { git, write } = repository;
  const base = git("rev-parse", "HEAD").trim();
  git("checkout", "--quiet", "-b", "round-up");
  for (const [path, text] of Object.entries(more)) write(path, text);
  if (Object.keys(more).length > 0) {
    git("add", "--all");
    git("commit", "--quiet", "--message=first");
  }
  write("src/rates.js", RATES.replace("floor", "ceil"));
  write("test/rates.test.js", TESTS.replace("13", "14"));
  git("commit", "--quiet", "--all", "--message=round up");
  const head = git("rev-parse", "HEAD").trim();
  git("checkout", "--quiet", "--detach", base);
  git("merge", "--quiet", "--no-ff", "--message=merge", head);
  return { head, base };
}

const approval = (login: string, commit: string, more: object = {}) => ({
  user: { login, type: "User" },
  state: "APPROVED",
  commit_id: commit,
  ...more,
});

function answers(head: string, base: string, reviews: readonly object[]): void {
  forge.on(`GET ${REPO}/pulls/7`, { body: { user: { login: "eve" }, head: { sha: head }, base: { ref: "main" } } });
  forge.on(`GET ${REPO}/compare/main...${base}`, { body: { status: "behind" } });
  forge.on(`GET ${REPO}/pulls/7/reviews`, { body: reviews });
  for (const login of ["ada", "mallory"])
    forge.on(`GET ${REPO}/collaborators/${login}/permission`, { body: { permission: "write" } });
}

const gate = (...args: string[]) => gateOf("checks", ...args);

async function gateOf(...args: string[]): Promise<{ readonly status: number | null; readonly out: string }> {
  const env = {
    ...repository.env,
    GITHUB_ACTIONS: "true",
    GITHUB_REF: "refs/pull/7/merge",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_API_URL: forge.url,
    GITHUB_TOKEN: "ghs_loopback",
  };
  const child = spawn(process.execPath, [MAIN, "gate", ...args], { cwd: repository.root, env });
  let out = "";
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (out += String(chunk)));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, out };
}

describe("a contested test in a pull request", { timeout: 120_000 }, () => {
  test("is licensed by its code owner's approval of the head commit, and by no older one", async () => {
    const { head, base } = proposed();
    answers(head, base, [approval("ada", head)]);
    const license = "licensed by @ada's approval as code owner of test/rates.test.js";
    const passed = await gate("--strict", "--base", "main");
    expect(passed.status, passed.out).toBe(0);
    expect(passed.out).toContain("; 1 contested test licensed by @ada ");
    expect(passed.out).toContain(`    ${NAME} fails in its base version; ${license}\n`);
    expect(passed.out).toContain("::notice file=test/rates.test.js,title=remand%3A licensed test::");
    expect(forge.asked.every(({ headers }) => headers.authorization === "Bearer ghs_loopback")).toBe(true);

    answers(head, base, [approval("ada", base), approval("ada", head, { state: "COMMENTED" })]);
    const refused = await gate("--strict", "--base", "main", "--json");
    expect(refused.status, refused.out).toBe(4);
    expect(JSON.parse(refused.out)).toMatchObject({
      judgements: [{ result: "inconclusive", contested: [{ test: NAME }] }],
      licenseNotes: [expect.stringContaining(`@ada approved ${base.slice(0, 12)}, and the`), expect.any(String)],
    });
  });

  test("is not licensed by owners, by a forge or by a base that the pull request names itself", async () => {
    const evil = await startGithubServer();
    const forgery = `${CONFIG}forge: { use: github, api: "${evil.url}", repository: eve/shop }\n`;
    const { head, base } = proposed({ ".github/CODEOWNERS": "* @mallory\n", "remand.yaml": forgery });
    answers(head, base, [approval("mallory", head)]);
    const refused = await gate("--strict", "--base", "main");
    expect(refused.status, refused.out).toBe(4);
    expect(refused.out).toContain(
      `no license by a code owner: an approval of ${head.slice(0, 12)} by @ada, code owner of test/rates.test.js`,
    );
    expect(evil.asked).toEqual([]);
    await evil.close();

    const own = repository.git("rev-parse", `${head}~1`).trim();
    forge.on(`GET ${REPO}/compare/main...${own}`, { body: { status: "ahead" } });
    const within = await gate("--strict", "--base", own);
    expect(within.status, within.out).toBe(4);
    expect(within.out).toContain(`the base ${own.slice(0, 12)} is not on main, the target of pull request 7`);
  });

  testInFull("stays contested where the forge does not answer, or the files are not the approved ones", async () => {
    const { head, base } = proposed();
    const silent = await gate("--base", "main");
    expect(silent.status, silent.out).toBe(0);
    expect(silent.out).toContain("no license by a code owner: pull request 7 cannot be read: the forge has no /repos/");
    answers(head, base, [approval("ada", head)]);
    repository.write("src/more.js", "export {};\n");
    const changed = await gate("--strict", "--base", "main");
    expect(changed.status, changed.out).toBe(4);
    expect(changed.out).toContain("the files differ from the commit that was approved: gate the commit with --at HEAD");
  });
});

test("a person's pull request may change the rules of the project once the owner of that file approves", async () => {
  const { git, write } = repository;
  const base = git("rev-parse", "HEAD").trim();
  git("checkout", "--quiet", "-b", "more-time");
  write("remand.yaml", `${CONFIG}limits: { iterations: 4 }\n`);
  git("commit", "--quiet", "--all", "--message=more attempts");
  const head = git("rev-parse", "HEAD").trim();
  answers(head, base, [approval("mallory", head)]);
  const refused = await gateOf("integrity", "--base", "main");
  expect(refused.status, refused.out).toBe(3);
  expect(refused.out).toContain("this file says how the work is judged, and it was changed");
  expect(refused.out).toContain(`an approval of ${head.slice(0, 12)} by @ada, code owner of remand.yaml, is a license`);

  answers(head, base, [approval("ada", head)]);
  const allowed = await gateOf("integrity", "--base", "main");
  expect(allowed.status, allowed.out).toBe(0);
  expect(allowed.out).toContain("integrity  pass; remand.yaml changed as @ada approved");
  expect(allowed.out).toContain("licensed by @ada's approval as code owner of remand.yaml");
});
