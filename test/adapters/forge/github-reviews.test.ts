import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGithubReviews } from "../../../src/adapters/forge/github-reviews.ts";
import type { PullRequestReviews } from "../../../src/ports/forge.ts";
import { startGithubServer, type GithubServer } from "../../kit/github-server.ts";

const REPO = "/repos/acme/shop";
const signal = new AbortController().signal;

let server: GithubServer;
let reviews: PullRequestReviews;
beforeEach(async () => {
  server = await startGithubServer();
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  reviews = createGithubReviews({ api: server.url, token: null, repository: "acme/shop", clock });
});
afterEach(() => server.close());

describe("reviews on GitHub", () => {
  test("are read from all pages; a non-user is a bot, and an unknown state is a comment", async () => {
    const path = `${REPO}/pulls/7/reviews`;
    const review = (login: string, type: string, state: string) => ({ user: { login, type }, state, commit_id: "c" });
    server.on(
      `GET ${path}`,
      {
        body: [review("ada", "User", "APPROVED"), { user: null, state: "APPROVED", commit_id: "c" }],
        headers: { link: `<${server.url}${path}?page=2>; rel="next"` },
      },
      {
        body: [
          review("ada", "User", "CHANGES_REQUESTED"),
          review("ben", "User", "DISMISSED"),
          review("helper[bot]", "Bot", "APPROVED"),
          review("app", "Mannequin", "constructor"),
        ],
      },
    );
    expect(await reviews.reviewsOf(7, signal)).toEqual([
      { by: "ada", isBot: false, verdict: "approved", commit: "c" },
      { by: "ada", isBot: false, verdict: "changes-requested", commit: "c" },
      { by: "ben", isBot: false, verdict: "dismissed", commit: "c" },
      { by: "helper[bot]", isBot: true, verdict: "approved", commit: "c" },
      { by: "app", isBot: true, verdict: "comment", commit: "c" },
    ]);
  });

  test("of a pull request without a head are rejected", async () => {
    server.on(`GET ${REPO}/pulls/7`, { body: { user: { login: "eve" }, base: { ref: "main" } } });
    await expect(reviews.pullRequest(7, signal)).rejects.toThrow("does not say the newest commit");
  });

  test("fail with an error if the response is cut off", async () => {
    server.on(`GET ${REPO}/pulls/7`, { brokenText: '{ "user":' });
    await expect(reviews.pullRequest(7, signal)).rejects.toMatchObject({ code: "forge-unreachable" });
  });

  test.each([
    ["identical", true],
    ["behind", true],
    ["ahead", false],
    ["diverged", false],
  ])("a commit that is %s is on the branch: %s", async (status, expected) => {
    server.on(`GET ${REPO}/compare/release%2F2...abc`, { body: { status } });
    expect(await reviews.isOnBranch("release/2", "abc", signal)).toBe(expected);
  });

  test("count as a member only for an active one; what the token may not see is unknown", async () => {
    const path = "/orgs/acme/teams/rates/memberships/ada";
    const asked = () => reviews.isMember("acme/rates", "ada", signal);
    server.on(`GET ${path}`, { body: { state: "active" } });
    expect(await asked()).toBe("yes");
    server.on(`GET ${path}`, { body: { state: "pending" } });
    expect(await asked()).toBe("no");
    server.on(`GET ${path}`, { status: 403, body: { message: "Resource not accessible by integration" } });
    expect(await asked()).toEqual({ unknown: expect.stringContaining("Resource not accessible by integration") });
    expect(await reviews.isMember("acme/other", "ada", signal)).toEqual({
      unknown: "the forge has no /orgs/acme/teams/other/memberships/ada",
    });
    server.on(`GET ${path}`, { status: 502 });
    await expect(asked()).rejects.toMatchObject({ code: "forge-unreachable" });
  });

  test.each([
    ["admin", "yes"],
    ["write", "yes"],
    ["read", "no"],
    ["none", "no"],
  ])("with the permission %s, may a person write: %s", async (permission, expected) => {
    server.on(`GET ${REPO}/collaborators/ada/permission`, { body: { permission } });
    expect(await reviews.canWrite("ada", signal)).toBe(expected);
  });
});
