import {
  type CodeOwner,
  type ForgeAnswer,
  type OwnerLicense,
  type OwnerRule,
  type OwnerRuling,
  type PullRequestReview,
  type ReviewedPullRequest,
  ownerText,
  ownersOf,
} from "../core/gates/code-owners.ts";
import type { ContestedTest } from "../core/gates/contested-test.ts";
import type { GateName } from "../core/gates/gate.ts";

/** A person's latest review of the pull request, applied to one commit. */
export interface ReviewStatus {
  readonly by: string;
  /** Why the review does not count as an approval; `null` if it does. */
  readonly refusal: string | null;
}

/** By login in lower case. A comment does not replace an earlier review. */
export type ReviewStatuses = ReadonlyMap<string, ReviewStatus>;

export function reviewStatuses(
  reviews: readonly PullRequestReview[],
  pullRequest: Pick<ReviewedPullRequest, "author" | "head">,
): ReviewStatuses {
  const latest = reviews.filter(({ verdict }) => verdict !== "comment").map((each) => [keyOf(each.by), each] as const);
  return new Map(
    [...new Map(latest)].map(([key, review]) => [key, { by: review.by, refusal: refusalOf(review, pullRequest) }]),
  );
}

function refusalOf(
  { by, isBot, verdict, commit }: PullRequestReview,
  { author, head }: Pick<ReviewedPullRequest, "author" | "head">,
): string | null {
  if (isBot) return `@${by} is a bot: a person has to approve`;
  if (keyOf(by) === keyOf(author)) return `@${by} is the author of the pull request: another owner has to approve`;
  if (verdict === "changes-requested") return `@${by} requested changes: only a later approval counts`;
  if (verdict === "dismissed") return `the latest review of @${by} was dismissed: ask for another`;
  if (commit === head) return null;
  return `@${by} approved ${short(commit)}, and the pull request is at ${short(head)} now: ask for another approval`;
}

/** A contested test, with the file whose owner may license it. */
export interface OwnedTest {
  readonly gate: GateName;
  readonly contested: ContestedTest;
  /** From the top of the repository; `null` if the base has no such file, or none is known. */
  readonly file: string | null;
}

export interface OwnerCase {
  readonly tests: readonly OwnedTest[];
  /** The rules at the base; `null` if the base has no CODEOWNERS. */
  readonly rules: readonly OwnerRule[] | null;
  readonly standings: ReviewStatuses;
  /** The commit that must be approved. */
  readonly head: string;
}

/** The forge's answers to `ownerQuestions`. What was not asked is unknown. */
export interface OwnerAnswers {
  readonly members: ReadonlyMap<string, ForgeAnswer>;
  readonly writers: ReadonlyMap<string, ForgeAnswer>;
}

export interface Membership {
  readonly team: string;
  readonly login: string;
}

export const memberKey = ({ team, login }: Membership): string => `${keyOf(team)} ${keyOf(login)}`;

/** Returns what to ask the forge before the ruling: only about people whose approval may count. */
export function ownerQuestions({ tests, rules, standings }: OwnerCase): {
  readonly memberships: readonly Membership[];
  readonly logins: readonly string[];
} {
  const owners = tests.flatMap(({ file }) => (file === null || rules === null ? [] : ownersOf(rules, file)));
  const named = new Set(owners.filter(({ kind }) => kind === "person").map(({ name }) => keyOf(name)));
  const teams = new Set(owners.filter(({ kind }) => kind === "team").map(({ name }) => name));
  const approvers = [...standings.values()].filter(({ refusal }) => refusal === null).map(({ by }) => by);
  return {
    memberships: [...teams].flatMap((team) => approvers.map((login) => ({ team, login }))),
    logins: teams.size > 0 ? approvers : approvers.filter((login) => named.has(keyOf(login))),
  };
}

/** Rules which contested tests are licensed, and by whose approval. An unknown answer never licenses. */
export function ruleOnOwners(about: OwnerCase, answers: OwnerAnswers): OwnerRuling {
  const licensed: OwnerLicense[] = [];
  const notes = new Set<string>();
  for (const { gate, contested, file } of about.tests) {
    if (file === null || about.rules === null) {
      notes.add(
        about.rules === null ? NO_RULES : `the file of ${contested.test} is not known, so it has no code owner`,
      );
      continue;
    }
    const owners = ownersOf(about.rules, file);
    const rulings = owners.map((owner) => ruleOnOwner(owner, file, about, answers));
    const approved = rulings.find(({ by }) => by !== null);
    if (approved?.by != null) {
      const owner = ownerText(approved.owner);
      licensed.push({ ...contested, gate, by: approved.by, owner, ownedFile: file, commit: about.head });
    } else for (const note of notesOn(file, owners, rulings, about.head)) notes.add(note);
  }
  return { licensed, notes: [...notes] };
}

const NO_RULES = "the base has no CODEOWNERS, so no approval is a license";

interface OneRuling {
  readonly owner: CodeOwner;
  /** The person whose approval counts. */
  readonly by: string | null;
  readonly notes: readonly string[];
}

function ruleOnOwner(owner: CodeOwner, file: string, { standings }: OwnerCase, answers: OwnerAnswers): OneRuling {
  if (owner.kind === "email") {
    const note = `${owner.name} owns ${file} by an email address, which no approval shows: name the owner as @login in CODEOWNERS`;
    return { owner, by: null, notes: [note] };
  }
  if (owner.kind === "person") {
    const standing = standings.get(keyOf(owner.name));
    if (standing === undefined) return { owner, by: null, notes: [] };
    if (standing.refusal !== null) return { owner, by: null, notes: [standing.refusal] };
    return { owner, ...ruleOnWriter(standing.by, answers) };
  }
  const rulings = [...standings.values()].map(({ by, refusal }) => ruleOnMember(owner.name, by, refusal, answers));
  return {
    owner,
    by: rulings.find(({ by }) => by !== null)?.by ?? null,
    notes: rulings.flatMap(({ notes }) => notes),
  };
}

type PersonRuling = Omit<OneRuling, "owner">;

function ruleOnMember(team: string, login: string, refusal: string | null, answers: OwnerAnswers): PersonRuling {
  // The person's membership was not asked, because the review is not an approval that counts.
  if (refusal !== null) return { by: null, notes: [refusal] };
  const answer = answers.members.get(memberKey({ team, login })) ?? NOT_ASKED;
  if (answer === "yes") return ruleOnWriter(login, answers);
  if (answer === "no") return { by: null, notes: [] };
  const note = `whether @${login} is a member of @${team} is not known (${answer.unknown}): use a token that may read the organization's members (scope read:org)`;
  return { by: null, notes: [note] };
}

/**
 * Rules that, as on GitHub, an owner without write permission owns nothing: another person may have taken over the
 * login.
 */
function ruleOnWriter(login: string, { writers }: OwnerAnswers): PersonRuling {
  const answer = writers.get(keyOf(login)) ?? NOT_ASKED;
  if (answer === "yes") return { by: login, notes: [] };
  const note =
    answer === "no"
      ? `@${login} may not write to the repository, and so is no code owner`
      : `whether @${login} may write to the repository is not known (${answer.unknown}): use a token that may read the repository's metadata`;
  return { by: null, notes: [note] };
}

const NOT_ASKED: ForgeAnswer = { unknown: "the forge was not asked" };

function notesOn(
  file: string,
  owners: readonly CodeOwner[],
  rulings: readonly OneRuling[],
  head: string,
): readonly string[] {
  if (owners.length === 0) return [`${file} has no code owner at the base`];
  const able = owners.filter(({ kind }) => kind !== "email").map(ownerText);
  const wanted = `an approval of ${short(head)} by ${able.join(" or ")}, code owner of ${file}, is a license`;
  return [...rulings.flatMap(({ notes }) => notes), ...(able.length === 0 ? [] : [wanted])];
}

const keyOf = (name: string): string => name.toLowerCase();
const short = (commit: string): string => commit.slice(0, 12);
