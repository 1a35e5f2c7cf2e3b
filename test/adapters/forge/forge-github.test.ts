import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGithubForge } from "../../../src/adapters/forge/github-forge.ts";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import type { Forge } from "../../../src/ports/forge.ts";
import { startGithubServer, type GithubServer } from "../../kit/github-server.ts";

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const REPO = "/repos/acme/shop";
const signal = new AbortController().signal;

let server: GithubServer;
let forge: Forge;
let slept: number[];

beforeEach(async () => {
  server = await startGithubServer();
  slept = [];
  const clock = createVirtualClock(1_700_000_000_000);
  const patient = {
    now: () => clock.now(),
    sleep: (ms: number) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  forge = createGithubForge({ api: server.url, token: TOKEN, repository: "acme/shop", clock: patient });
});

afterEach(() => server.close());

const run = (id: number, name: string, status: string, conclusion: string | null) => ({
  id,
  name,
  status,
  conclusion,
  html_url: `https://example.test/${id}`,
  output: { title: null },
});

describe("checks of a commit", () => {
  test("are read from all pages of check runs and statuses, each in its newest state", async () => {
    const path = `${REPO}/commits/abc/check-runs`;
    server.on(
      `GET ${path}`,
      {
        body: { check_runs: [run(1, "unit", "completed", "success")] },
        headers: { link: `<${server.url}${path}?page=2>; rel="next"` },
      },
      { body: { check_runs: [run(2, "e2e", "completed", "failure"), run(3, "slow", "in_progress", null)] } },
    );
    server.on(`GET ${REPO}/commits/abc/status`, {
      body: {
        statuses: [
          { context: "deploy", state: "success", description: "done", target_url: null },
          { context: "deploy", state: "failure", description: "older", target_url: null },
        ],
      },
    });
    const checks = await forge.checks("abc", signal);
    expect(checks.map(({ name, state }) => [name, state])).toEqual([
      ["unit", "passed"],
      ["e2e", "failed"],
      ["slow", "running"],
      ["deploy", "passed"],
    ]);
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test.each([
    ["cancelled", "cancelled"],
    ["timed_out", "failed"],
    ["skipped", "skipped"],
    ["neutral", "passed"],
    ["something new", "failed"],
  ])("a run that ended %s is %s", async (conclusion, state) => {
    server.on(`GET ${REPO}/commits/abc/check-runs`, { body: { check_runs: [run(1, "x", "completed", conclusion)] } });
    server.on(`GET ${REPO}/commits/abc/status`, { body: { statuses: [] } });
    expect((await forge.checks("abc", signal))[0]?.state).toBe(state);
  });

  test("are not sent again if unchanged", async () => {
    server.on(`GET ${REPO}/commits/abc/check-runs`, (asked) =>
      asked.headers["if-none-match"] === '"one"'
        ? { status: 304 }
        : { body: { check_runs: [run(1, "unit", "in_progress", null)] }, headers: { etag: '"one"' } },
    );
    server.on(`GET ${REPO}/commits/abc/status`, { body: { statuses: [] } });
    const first = await forge.checks("abc", signal);
    expect(await forge.checks("abc", signal)).toEqual(first);
    expect(server.asked[2]?.headers["if-none-match"]).toBe('"one"');
  });
});

describe("errors of the forge", () => {
  const checks = () => forge.checks("abc", signal);
  beforeEach(() => server.on(`GET ${REPO}/commits/abc/status`, { body: { statuses: [] } }));
  const answers = (...replies: Parameters<GithubServer["on"]>[1][]) =>
    server.on(`GET ${REPO}/commits/abc/check-runs`, ...replies);

  test("a rate limit is waited for as long as it lasts", async () => {
    answers({ status: 429, headers: { "retry-after": "7" } }, { body: { check_runs: [] } });
    expect(await checks()).toEqual([]);
    expect(slept).toEqual([7000]);
  });

  test("the hourly limit is waited for until its reset", async () => {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000030" };
    answers({ status: 403, headers, body: { message: "API rate limit exceeded" } }, { body: { check_runs: [] } });
    expect(await checks()).toEqual([]);
    expect(slept).toEqual([30_000]);
  });

  test("a notice is shown during a long rate limit", async () => {
    answers({ status: 403, headers: { "retry-after": "3600" } });
    await expect(checks()).rejects.toThrow("rate limit is reached for 60 min");
  });

  test("server errors are retried with growing pauses, and then reported", async () => {
    answers({ status: 502 }, { status: 503 }, { body: { check_runs: [] } });
    expect(await checks()).toEqual([]);
    expect(slept).toEqual([1000, 2000]);
    answers({ status: 500 });
    await expect(checks()).rejects.toMatchObject({
      code: "forge-unreachable",
      message: expect.stringContaining("500"),
    });
  });

  test.each([
    [401, "Bad credentials", /GITHUB_TOKEN/],
    [403, "Resource not accessible by integration", /rights/],
    [404, "Not Found", /forge\.repository/],
  ])("%s needs a person to fix it", async (status, message, hint) => {
    answers({ status, body: { message } });
    await expect(checks()).rejects.toMatchObject({ code: "forge-refused", hint: expect.stringMatching(hint) });
    expect(slept).toEqual([]);
  });

  test("no error contains the token", async () => {
    for (const status of [401, 403, 404, 422, 500]) {
      answers({ status, body: { message: "no" } });
      const error = (await checks().catch((thrown: unknown) => thrown)) as Error;
      expect(JSON.stringify([error, error.message, error.stack])).not.toContain(TOKEN);
    }
  });

  test("a link to another host is not followed, and gets no token", async () => {
    const other = await startGithubServer();
    answers({ body: { check_runs: [] }, headers: { link: `<${other.url}/steal>; rel="next"` } });
    expect(await checks()).toEqual([]);
    expect(other.asked).toEqual([]);
    await other.close();
  });

  test("a page that is not JSON counts as an empty list", async () => {
    answers({ body: "<html>proxy</html>" });
    expect(await checks()).toEqual([]);
  });
});

describe("the log of a check", () => {
  const check = { id: "run/7", name: "unit", state: "failed", url: null, summary: "1 failed" } as const;

  test("has the failed step and the annotations", async () => {
    server.on(`GET ${REPO}/actions/jobs/7/logs`, { status: 302, headers: { location: `${server.url}/blob` } });
    server.on("GET /blob", { body: "line 1\n##[error]Process completed with exit code 1.\n" });
    server.on(`GET ${REPO}/actions/jobs/7`, {
      body: {
        steps: [
          { name: "Install", conclusion: "success" },
          { name: "Test", conclusion: "failure" },
        ],
      },
    });
    server.on(`GET ${REPO}/check-runs/7/annotations`, {
      body: [{ path: "src/a.ts", start_line: 3, annotation_level: "failure", message: "boom" }, { path: "x" }],
    });
    expect(await forge.logOf(check, signal)).toEqual({
      text: "line 1\n##[error]Process completed with exit code 1.\n",
      step: "Test",
      isPartial: false,
      annotations: [{ path: "src/a.ts", line: 3, level: "failure", message: "boom" }],
    });
  });

  test("is used and marked as partial if only half of it arrived", async () => {
    server.on(`GET ${REPO}/actions/jobs/7/logs`, { brokenText: "the beginning" });
    server.on(`GET ${REPO}/actions/jobs/7`, { body: {} });
    server.on(`GET ${REPO}/check-runs/7/annotations`, { body: [] });
    expect(await forge.logOf(check, signal)).toMatchObject({ text: "the beginning", isPartial: true, step: null });
  });

  test("is only the summary for another service's check", async () => {
    server.on(`GET ${REPO}/check-runs/7/annotations`, { body: [] });
    expect(await forge.logOf(check, signal)).toMatchObject({ text: "1 failed", isPartial: true });
    const status = { ...check, id: "status/deploy" };
    expect(await forge.logOf(status, signal)).toMatchObject({ text: "1 failed", isPartial: true });
  });
});

describe("a pull request", () => {
  const draft = { branch: "remand/checkout", base: "main", title: "Checkout", body: "What it does" };
  const opened = { number: 12, html_url: "https://example.test/12", state: "open", merged_at: null };

  test("is opened once, and updated afterwards", async () => {
    server.on(`GET ${REPO}/pulls`, { body: [] }, { body: [opened] });
    server.on(`POST ${REPO}/pulls`, { status: 201, body: opened });
    server.on(`PATCH ${REPO}/pulls/12`, { body: opened });
    const expected = { number: 12, url: "https://example.test/12", isMerged: false, isOpen: true };
    expect(await forge.pullRequest(draft, signal)).toEqual(expected);
    expect(await forge.pullRequest({ ...draft, body: "More" }, signal)).toEqual(expected);
    expect(server.asked.map(({ method, body }) => [method, body])).toEqual([
      ["GET", null],
      ["POST", { title: "Checkout", body: "What it does", head: "remand/checkout", base: "main" }],
      ["GET", null],
      ["PATCH", { title: "Checkout", body: "More" }],
    ]);
  });

  test("is not opened twice if the response was lost", async () => {
    server.on(`GET ${REPO}/pulls`, { body: [] });
    server.on(`POST ${REPO}/pulls`, { status: 502 });
    await expect(forge.pullRequest(draft, signal)).rejects.toMatchObject({ code: "forge-unreachable" });
    expect(server.asked.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  const user = { login: "ann" };
  const theirs = { user, author_association: "COLLABORATOR" };
  const said = (lines: readonly object[], reviews: readonly object[] = [], talk: readonly object[] = []) => {
    server.on(`GET ${REPO}/pulls/12/comments`, { body: lines });
    server.on(`GET ${REPO}/pulls/12/reviews`, { body: reviews });
    server.on(`GET ${REPO}/issues/12/comments`, { body: talk });
    return forge.commentsOn({ number: 12, url: "", isMerged: false, isOpen: true }, signal);
  };

  test("has its comments read in order, with their location", async () => {
    const comments = await said(
      [{ id: 1, ...theirs, body: "Name it", path: "src/a.ts", line: 4, created_at: "2026-01-02T00:00:00Z" }],
      [
        { id: 2, ...theirs, body: "Please fix", state: "CHANGES_REQUESTED", submitted_at: "2026-01-03T00:00:00Z" },
        { id: 3, ...theirs, body: "", state: "APPROVED", submitted_at: "2026-01-04T00:00:00Z" },
      ],
      [{ id: 4, ...theirs, body: "Nice", created_at: "2026-01-01T00:00:00Z" }],
    );
    expect(comments.map(({ by, text, path, line, asksForChanges }) => [by, text, path, line, asksForChanges])).toEqual([
      ["ann", "Nice", null, null, false],
      ["ann", "Name it", "src/a.ts", 4, true],
      ["ann", "Please fix", null, null, true],
    ]);
  });

  test("ignores requests by strangers and replies within a thread", async () => {
    const line = { body: "Name it", path: "src/a.ts", line: 4, created_at: "2026-01-02T00:00:00Z" };
    const review = { id: 5, user, body: "No", state: "CHANGES_REQUESTED", submitted_at: "2026-01-03T00:00:00Z" };
    const comments = await said(
      [
        { id: 1, user, author_association: "CONTRIBUTOR", ...line },
        { id: 2, user, ...line },
        { id: 3, ...theirs, in_reply_to_id: 1, ...line },
        { id: 4, user, author_association: "OWNER", ...line },
      ],
      [{ ...review, author_association: "NONE" }],
    );
    expect(comments.filter(({ asksForChanges }) => asksForChanges).map(({ id }) => id)).toEqual(["line/4"]);
    expect(comments).toHaveLength(5);
  });

  test("is found by its address, if it belongs to this repository", async () => {
    const url = "https://example.test/acme/shop/pull/12";
    server.on(`GET ${REPO}/pulls/12`, { body: { ...opened, html_url: url, state: "closed", merged: true } });
    expect(await forge.pullRequestAt(url, signal)).toEqual({ number: 12, url, isMerged: true, isOpen: false });
    expect(await forge.pullRequestAt("https://example.test/other/shop/pull/12", signal)).toBeNull();
    expect(await forge.pullRequestAt("main at 0123456789ab", signal)).toBeNull();
  });
});

test("a check is rerun if the forge supports that", async () => {
  const check = { id: "run/7", name: "unit", state: "failed", url: null, summary: "" } as const;
  server.on(`POST ${REPO}/actions/jobs/7/rerun`, { status: 201, body: {} });
  expect(await forge.rerun(check, signal)).toBe(true);
  expect(await forge.rerun({ ...check, id: "run/8" }, signal)).toBe(false);
  expect(await forge.rerun({ ...check, id: "status/deploy" }, signal)).toBe(false);
});
