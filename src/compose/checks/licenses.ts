import { createGithubReviews } from "../../adapters/forge/github-reviews.ts";
import { mismatchWithPullRequest } from "../../adapters/git/checkout/gated-checkout.ts";
import { remoteAddress } from "../../adapters/git/repository.ts";
import {
  CODE_OWNERS_PATHS,
  type ForgeAnswer,
  type OwnerRule,
  type OwnerRuling,
  readCodeOwners,
} from "../../core/gates/code-owners.ts";
import { RemandError } from "../../core/events/error.ts";
import {
  type GateReport,
  type JudgedState,
  changedRules,
  licensedReport,
  openContested,
} from "../../core/gates/gate-report.ts";
import { type TreeId, storyId } from "../../core/events/ids.ts";
import {
  type OwnedTest,
  type OwnerAnswers,
  type OwnerCase,
  memberKey,
  ownerQuestions,
  reviewStatuses,
  ruleOnOwners,
} from "../../decide/owner-licenses.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequestReviews } from "../../ports/forge.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { repositoryIn } from "../delivery.ts";
import type { LicensedTest } from "../../core/gates/contested-test.ts";
import { readStories } from "../journal/read-journal.ts";
import { journalTrouble } from "../journal/journal-past.ts";
import { stateFolder } from "../state-folder.ts";

interface LicenseParts {
  readonly root: string;
  /** The number of the pull request that was judged. */
  readonly pullRequest: number;
  /** The owners of files at the base; `null` where it has no CODEOWNERS. */
  readonly rules: readonly OwnerRule[] | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly workspace: Pick<Workspace, "fileAt">;
  readonly signal: AbortSignal;
}

/**
 * Licenses contested tests whose code owner approved the judged commit. If the forge does not answer, no test is
 * licensed, and the report says so.
 */
export async function withOwnerLicenses(report: GateReport, parts: LicenseParts): Promise<GateReport> {
  const tests = await ownedTests(report, parts.workspace);
  if (tests.length === 0 || parts.signal.aborted) return report;
  const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(LONGEST_MS)]);
  try {
    return licensedReport(report, await rulingOn(report, tests, { ...parts, signal }));
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    const note = `pull request ${parts.pullRequest} cannot be read: ${error.message}. ${error.hint}`;
    return licensedReport(report, { licensed: [], notes: [note] });
  }
}

/** A person waits for the verdict and can start the gate again. */
const LONGEST_MS = 60_000;

/**
 * The open contested tests, and the file of the owner rules if the work changed it. A test whose file is not in the
 * base is not a file, but for example the name of a check.
 */
async function ownedTests(report: GateReport, workspace: LicenseParts["workspace"]): Promise<readonly OwnedTest[]> {
  const { base, folder } = report.judged;
  const fromTop = (file: string): string => `${folder === "" ? "" : `${folder}/`}${file}`;
  const rules = report.judgements.flatMap((judgement) =>
    changedRules(judgement).flatMap(({ file }): readonly OwnedTest[] =>
      file === undefined
        ? []
        : [{ gate: judgement.gate, contested: { test: file, file, why: "rules-changed" }, file: fromTop(file) }],
    ),
  );
  const open = report.judgements.flatMap((judgement) =>
    openContested(report, judgement).map((contested) => ({ gate: judgement.gate, contested })),
  );
  const tests = await Promise.all(
    open.map(async ({ gate, contested }) => {
      const file = contested.file === undefined ? null : fromTop(contested.file);
      const isThere = file !== null && (await workspace.fileAt(NO_STORY, base, file)) !== null;
      return { gate, contested, file: isThere ? file : null };
    }),
  );
  return [...rules, ...tests];
}

async function rulingOn(
  { judged }: GateReport,
  tests: readonly OwnedTest[],
  { root, pullRequest: number, rules, env, clock, signal }: LicenseParts,
): Promise<OwnerRuling> {
  const reviews = createGithubReviews({ ...(await githubOf(root, env)), clock });
  const pullRequest = await reviews.pullRequest(number, signal);
  const mismatch = await mismatchWithPullRequest(root, judged, pullRequest);
  if (mismatch !== null) return { licensed: [], notes: [mismatch] };
  // A base inside the pull request would let the pull request name its own owners.
  if (!(await reviews.isOnBranch(pullRequest.target, judged.base, signal))) {
    const base = judged.base.slice(0, 12);
    const note = `the base ${base} is not on ${pullRequest.target}, the target of pull request ${number}: name it with --base`;
    return { licensed: [], notes: [note] };
  }
  const standings = reviewStatuses(await reviews.reviewsOf(number, signal), pullRequest);
  const about = { tests, rules, standings, head: pullRequest.head };
  return ruleOnOwners(about, await answersTo(about, reviews, signal));
}

/**
 * Finds the pull request by the environment and the remote. `remand.yaml` is not asked, because it is part of the pull
 * request and could name a server that approves everything.
 */
async function githubOf(
  root: string,
  env: LicenseParts["env"],
): Promise<{ readonly api: string; readonly token: string | null; readonly repository: string }> {
  const repository = env["GITHUB_REPOSITORY"] || repositoryIn(await remoteAddress(root, "origin"));
  if (repository === null)
    throw new RemandError(
      "usage",
      "the remote origin does not say which repository of GitHub's it is",
      "Set GITHUB_REPOSITORY=owner/name.",
    );
  const api = env["GITHUB_API_URL"] || "https://api.github.com";
  return { api, repository, token: env["GITHUB_TOKEN"] || env["GH_TOKEN"] || null };
}

/** Reads the rules before any code of the pull request runs. */
export async function ownerRulesAt(
  base: string,
  workspace: Pick<Workspace, "fileAt">,
): Promise<readonly OwnerRule[] | null> {
  for (const path of CODE_OWNERS_PATHS) {
    const text = await workspace.fileAt(NO_STORY, base, path);
    if (text !== null) return readCodeOwners(text);
  }
  return null;
}

async function answersTo(about: OwnerCase, reviews: PullRequestReviews, signal: AbortSignal): Promise<OwnerAnswers> {
  const members = new Map<string, ForgeAnswer>();
  const writers = new Map<string, ForgeAnswer>();
  const { memberships, logins } = ownerQuestions(about);
  for (const each of memberships) members.set(memberKey(each), await reviews.isMember(each.team, each.login, signal));
  for (const login of logins) writers.set(login.toLowerCase(), await reviews.canWrite(login, signal));
  return { members, writers };
}

/** Reading a file of a commit needs a story id, but does not depend on it. */
const NO_STORY = storyId("gate");

/**
 * The tests that people allowed the story's work to change, in the story's file or in answers, by the checkout's
 * journal. Any commit can claim to be a story's, so only the tree that the journal records as the story's newest is
 * licensed.
 */
export async function recordedLicenses(
  root: string,
  { attemptOf, tree }: Pick<JudgedState, "attemptOf" | "tree">,
  onNotice: (text: string) => void,
): Promise<readonly LicensedTest[]> {
  if (attemptOf === undefined) return [];
  try {
    return await licensesOf(root, attemptOf, tree, onNotice);
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    onNotice(`licenses in the journal do not count: ${error.message} — ${error.hint}`);
    return [];
  }
}

async function licensesOf(
  root: string,
  attemptOf: string,
  tree: TreeId,
  onNotice: (text: string) => void,
): Promise<readonly LicensedTest[]> {
  const trouble = await journalTrouble(root, stateFolder(root).journal, true);
  if (trouble !== null)
    throw new RemandError("journal-corrupt", trouble.text, "Find out what happened with remand verify.");
  const seen = await readStories(root, null, [storyId(attemptOf)]);
  if (seen === null) return [];
  try {
    const state = seen.states[0];
    if (state?.tree !== tree) return [];
    const beforehand = (state.story.tests ?? []).map((test) => ({ test, by: "the story", reason: "" }));
    const licensed = [...beforehand, ...(state.licensed ?? [])];
    if (licensed.length > 0) onNotice(noticeOf(attemptOf, licensed));
    return licensed;
  } finally {
    await seen.close();
  }
}

function noticeOf(story: string, licensed: readonly LicensedTest[]): string {
  const each = licensed.map(({ test, by }) => `${test} (allowed by ${by})`);
  return `the journal of ${story} allows the work to change ${[...new Set(each)].join(", ")}`;
}
