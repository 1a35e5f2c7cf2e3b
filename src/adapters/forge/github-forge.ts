import type {
  Forge,
  ForgeAnnotation,
  ForgeCheck,
  ForgeComment,
  PullRequest,
  PullRequestDraft,
} from "../../ports/forge.ts";
import { RemandError } from "../../core/events/error.ts";
import { isRecord } from "../../stdx/assert.ts";
import { createGithubReviews } from "./github-reviews.ts";
import { type GithubForgeOptions, type GithubRequest, createGithubRequest } from "./github-request.ts";

/** GitHub, through its REST API. */
export function createGithubForge(options: GithubForgeOptions): Forge {
  const ask = createGithubRequest(options);
  const reviews = createGithubReviews(options);
  const [owner = "", name = ""] = options.repository.split("/");
  const repo = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

  return {
    name: "github",
    async checks(commit, signal) {
      const sha = encodeURIComponent(commit);
      const runs = await ask.pages(`${repo}/commits/${sha}/check-runs?per_page=100`, listOf("check_runs"), signal);
      const statuses = await ask.pages(`${repo}/commits/${sha}/status?per_page=100`, listOf("statuses"), signal);
      return [...runs.flatMap(checkOfRun), ...newestPerContext(statuses).flatMap(checkOfStatus)];
    },
    async logOf(check, signal) {
      const [kind, id] = check.id.split("/");
      if (kind !== "run" || id === undefined)
        return { text: check.summary, step: null, isPartial: true, annotations: [] };
      // For GitHub Actions, the job has the id of its check run. Other services keep their logs elsewhere.
      const log = await ask.text(`${repo}/actions/jobs/${id}/logs`, signal);
      const notes = await ask.pages(`${repo}/check-runs/${id}/annotations?per_page=100`, listOf(null), signal);
      const job = log === null ? null : await ask.json("GET", `${repo}/actions/jobs/${id}`, null, signal);
      return {
        text: log?.text ?? check.summary,
        step: failedStep(job?.body),
        isPartial: log?.isPartial ?? true,
        annotations: notes.flatMap(annotationOf),
      };
    },
    async pullRequest(draft, signal) {
      const found = await openFor(draft, signal);
      if (found !== null) {
        const { body } = await ask.json("PATCH", `${repo}/pulls/${found.number}`, textOf(draft), signal);
        return pullRequestOf(body) ?? found;
      }
      const created = await ask.json(
        "POST",
        `${repo}/pulls`,
        { ...textOf(draft), head: draft.branch, base: draft.base },
        signal,
      );
      return pullRequestOf(created.body) ?? { number: 0, url: "", isMerged: false, isOpen: true };
    },
    pullRequestAt: (url, signal) => pullRequestAt(ask, repo, url, signal),
    commentsOn: ({ number }, signal) => commentsOn(ask, repo, number, signal),
    rerun: (check, signal) => rerun(ask, repo, check, signal),
    canWrite: async (login, signal) => (await reviews.canWrite(login, signal)) === "yes",
    ownAccount: (signal) => ownAccount(ask, signal),
  };

  async function openFor({ branch, base }: PullRequestDraft, signal: AbortSignal): Promise<PullRequest | null> {
    const query = new URLSearchParams({ head: `${owner}:${branch}`, base, state: "open" });
    const found = await ask.pages(`${repo}/pulls?${query.toString()}`, listOf(null), signal);
    return found.flatMap((each) => pullRequestOf(each) ?? [])[0] ?? null;
  }
}

async function ownAccount(ask: GithubRequest, signal: AbortSignal): Promise<string | null> {
  try {
    const { body } = await ask.json("GET", "/user", null, signal);
    return isRecord(body) && typeof body["login"] === "string" ? body["login"] : null;
  } catch (error) {
    // The token of an app or a workflow has no account.
    if (error instanceof RemandError && error.code === "forge-refused") return null;
    throw error;
  }
}

async function rerun(ask: GithubRequest, repo: string, check: ForgeCheck, signal: AbortSignal): Promise<boolean> {
  const [kind, id] = check.id.split("/");
  if (kind !== "run" || id === undefined) return false;
  return ask.json("POST", `${repo}/actions/jobs/${id}/rerun`, {}, signal).then(
    () => true,
    // Checks of other services cannot be rerun through GitHub; that is a result, not a failure.
    () => false,
  );
}

async function pullRequestAt(
  ask: GithubRequest,
  repo: string,
  url: string,
  signal: AbortSignal,
): Promise<PullRequest | null> {
  const number = /\/pull\/(\d+)$/.exec(url)?.[1];
  if (number === undefined) return null;
  const found = pullRequestOf((await ask.json("GET", `${repo}/pulls/${number}`, null, signal)).body);
  // The same number may exist in another repository; then this is not the pull request that was requested.
  return found?.url === url ? found : null;
}

async function commentsOn(
  ask: GithubRequest,
  repo: string,
  number: number,
  signal: AbortSignal,
): Promise<readonly ForgeComment[]> {
  const lines = await ask.pages(`${repo}/pulls/${number}/comments?per_page=100`, listOf(null), signal);
  const reviews = await ask.pages(`${repo}/pulls/${number}/reviews?per_page=100`, listOf(null), signal);
  const talk = await ask.pages(`${repo}/issues/${number}/comments?per_page=100`, listOf(null), signal);
  const comments = [
    // A reply within a thread discusses the line and requests nothing by itself.
    ...lines.flatMap((each) => commentOf("line", each, "created_at", typeof each["in_reply_to_id"] !== "number")),
    ...reviews.flatMap((each) => commentOf("review", each, "submitted_at", each["state"] === "CHANGES_REQUESTED")),
    ...talk.flatMap((each) => commentOf("talk", each, "created_at", false)),
  ];
  return comments.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOf = ({ title, body }: PullRequestDraft) => ({ title, body });

/** Returns a page's list: the page itself, or one of its fields. Anything else counts as an empty list. */
const listOf =
  (field: string | null) =>
  (body: unknown): readonly Fields[] => {
    const list = field === null ? body : isRecord(body) ? body[field] : null;
    return Array.isArray(list) ? list.filter(isRecord) : [];
  };

const STATES: Readonly<Record<string, ForgeCheck["state"]>> = {
  success: "passed",
  neutral: "passed",
  skipped: "skipped",
  cancelled: "cancelled",
  stale: "cancelled",
  failure: "failed",
  timed_out: "failed",
  action_required: "waiting",
  startup_failure: "failed",
};

function checkOfRun(run: Fields): ForgeCheck[] {
  const { id, status, conclusion, output } = run;
  if (typeof id !== "number") return [];
  const running = status === "in_progress" ? "running" : "waiting";
  const state = status === "completed" ? (STATES[text(conclusion)] ?? "failed") : running;
  const said = isRecord(output) ? text(output["title"]) : "";
  const summary = said === "" ? text(conclusion ?? status) : said;
  return [{ id: `run/${id}`, name: text(run["name"]), state, url: text(run["html_url"]) || null, summary }];
}

const STATUS_STATES: Readonly<Record<string, ForgeCheck["state"]>> = {
  success: "passed",
  pending: "running",
  failure: "failed",
  error: "failed",
};

function checkOfStatus(status: Fields): ForgeCheck[] {
  const state = STATUS_STATES[text(status["state"])];
  if (state === undefined) return [];
  const name = text(status["context"]);
  return [
    {
      id: `status/${name}`,
      name,
      state,
      url: text(status["target_url"]) || null,
      summary: text(status["description"]),
    },
  ];
}

/** A context may have been set many times; GitHub lists the newest first. */
function newestPerContext(statuses: readonly Fields[]): readonly Fields[] {
  return [...new Map(statuses.toReversed().map((status) => [text(status["context"]), status])).values()];
}

function failedStep(job: unknown): string | null {
  const steps = isRecord(job) && Array.isArray(job["steps"]) ? job["steps"].filter(isRecord) : [];
  const failed = steps.find((step) => step["conclusion"] === "failure");
  return failed === undefined ? null : text(failed["name"]);
}

const LEVELS: readonly ForgeAnnotation["level"][] = ["notice", "warning", "failure"];

function annotationOf(note: Fields): ForgeAnnotation[] {
  const level = LEVELS.find((each) => each === note["annotation_level"]);
  const line = note["start_line"];
  if (level === undefined) return [];
  return [
    { path: text(note["path"]), line: typeof line === "number" ? line : 0, level, message: text(note["message"]) },
  ];
}

function pullRequestOf(body: unknown): PullRequest | null {
  if (!isRecord(body) || typeof body["number"] !== "number") return null;
  const isMerged = body["merged"] === true || typeof body["merged_at"] === "string";
  return { number: body["number"], url: text(body["html_url"]), isMerged, isOpen: body["state"] === "open" };
}

/** Every GitHub user can comment on a public repository; only its owners, members and collaborators may start work. */
const MAY_ASK: ReadonlySet<string> = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

function commentOf(kind: string, fields: Fields, time: string, asks: boolean): ForgeComment[] {
  const { user, body, path, line } = fields;
  const said = text(body);
  const asksForChanges = asks && MAY_ASK.has(text(fields["author_association"]));
  if (said.trim() === "" && !asksForChanges) return [];
  return [
    {
      id: `${kind}/${String(fields["id"])}`,
      by: isRecord(user) ? text(user["login"]) : "",
      at: Date.parse(text(fields[time])) || 0,
      text: said,
      path: text(path) || null,
      line: typeof line === "number" ? line : null,
      asksForChanges,
    },
  ];
}
