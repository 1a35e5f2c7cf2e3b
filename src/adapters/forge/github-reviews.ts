import { RemandError } from "../../core/events/error.ts";
import type { ForgeAnswer, PullRequestReview } from "../../core/gates/code-owners.ts";
import type { PullRequestReviews } from "../../ports/forge.ts";
import { isRecord } from "../../stdx/assert.ts";
import { createGithubRequest, type GithubForgeOptions } from "./github-request.ts";

/** Reads who approved a pull request on GitHub, and what those people may do there. */
export function createGithubReviews(options: GithubForgeOptions): PullRequestReviews {
  const ask = createGithubRequest(options);
  const [owner = "", name = ""] = options.repository.split("/");
  const repo = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  const read = async (path: string, signal: AbortSignal): Promise<unknown> =>
    (await ask.json("GET", path, null, signal)).body;

  return {
    async pullRequest(number, signal) {
      const body = await read(`${repo}/pulls/${number}`, signal);
      return {
        author: requireText(at(body, "user", "login"), "the author"),
        head: requireText(at(body, "head", "sha"), "the newest commit"),
        mergeCommit: textOr(at(body, "merge_commit_sha"), null),
        target: requireText(at(body, "base", "ref"), "the target branch"),
      };
    },
    async reviewsOf(number, signal) {
      const list = (body: unknown): readonly unknown[] => (Array.isArray(body) ? body : []);
      return (await ask.pages(`${repo}/pulls/${number}/reviews?per_page=100`, list, signal)).flatMap(reviewOf);
    },
    async isOnBranch(branch, commit, signal) {
      const range = `${encodeURIComponent(branch)}...${encodeURIComponent(commit)}`;
      const status = at(await read(`${repo}/compare/${range}?per_page=1`, signal), "status");
      return status === "identical" || status === "behind";
    },
    isMember(team, login, signal) {
      const [org = "", slug = ""] = team.split("/").map(encodeURIComponent);
      const path = `/orgs/${org}/teams/${slug}/memberships/${encodeURIComponent(login)}`;
      return answerOrUnknown(async () => (at(await read(path, signal), "state") === "active" ? "yes" : "no"));
    },
    canWrite: (login, signal) =>
      answerOrUnknown(async () => {
        const body = await read(`${repo}/collaborators/${encodeURIComponent(login)}/permission`, signal);
        return WRITING.has(textOr(at(body, "permission"), "")) ? "yes" : "no";
      }),
  };
}

const WRITING: ReadonlySet<string> = new Set(["admin", "maintain", "write"]);

/** Turns a refusal into "unknown", because GitHub reports what a token may not see as missing. */
async function answerOrUnknown(ask: () => Promise<ForgeAnswer>): Promise<ForgeAnswer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RemandError && error.code === "forge-refused") return { unknown: error.message };
    throw error;
  }
}

const VERDICTS: ReadonlyMap<unknown, PullRequestReview["verdict"]> = new Map([
  ["APPROVED", "approved"],
  ["CHANGES_REQUESTED", "changes-requested"],
  ["DISMISSED", "dismissed"],
]);

/** Reads a review. GitHub lists reviews oldest first. A review of a deleted account has no author. */
function reviewOf(review: unknown): PullRequestReview[] {
  const by = textOr(at(review, "user", "login"), "");
  if (by === "") return [];
  return [
    {
      by,
      isBot: at(review, "user", "type") !== "User" || by.endsWith("[bot]"),
      verdict: VERDICTS.get(at(review, "state")) ?? "comment",
      commit: textOr(at(review, "commit_id"), ""),
    },
  ];
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === "string" ? value : otherwise);

function requireText(value: unknown, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new RemandError(
    "forge-refused",
    `the forge does not say ${what} of the pull request`,
    "Check GITHUB_API_URL and the number of the pull request.",
  );
}
