import { describe, expect, test } from "vitest";
import {
  type ForgeAnswer,
  type PullRequestReview,
  licenseText,
  readCodeOwners,
} from "../../src/core/gates/code-owners.ts";
import {
  type OwnedTest,
  memberKey,
  ownerQuestions,
  reviewStatuses,
  ruleOnOwners,
} from "../../src/decide/owner-licenses.ts";

const HEAD = "a".repeat(40);
const OLD = "b".repeat(40);
const FILE = "test/rates.test.js";

const review = (
  by: string,
  verdict: PullRequestReview["verdict"] = "approved",
  more: Partial<PullRequestReview> = {},
): PullRequestReview => ({ by, verdict, commit: HEAD, isBot: false, ...more });

const contested = (name: string, file: string | null = FILE): OwnedTest => ({
  gate: "checks",
  contested: { test: `${FILE} > ${name}`, why: "fails", file: FILE },
  file,
});

interface Wish {
  readonly rules?: string | null;
  readonly reviews?: readonly PullRequestReview[];
  readonly tests?: readonly OwnedTest[];
  readonly members?: Readonly<Record<string, ForgeAnswer>>;
  readonly writers?: Readonly<Record<string, ForgeAnswer>>;
}

function ruled({ rules = "test/ @ada", reviews = [], tests = [contested("adds")], members = {}, writers }: Wish) {
  const about = {
    tests,
    rules: rules === null ? null : readCodeOwners(rules),
    standings: reviewStatuses(reviews, { author: "eve", head: HEAD }),
    head: HEAD,
  };
  const { logins } = ownerQuestions(about);
  const ruling = ruleOnOwners(about, {
    members: new Map(Object.entries(members)),
    writers: new Map(Object.entries(writers ?? Object.fromEntries(logins.map((each) => [each.toLowerCase(), "yes"])))),
  });
  return { ...ruling, texts: ruling.licensed.map(licenseText), questions: ownerQuestions(about) };
}

describe("a code owner's approval", () => {
  test("of the head commit licenses the tests of the files that the person owns", () => {
    const tests = [contested("adds"), contested("rounds"), contested("other", "src/other.test.js")];
    const { licensed, notes } = ruled({ tests, reviews: [review("Ada")] });
    expect(licensed).toMatchObject([
      { test: `${FILE} > adds`, why: "fails", gate: "checks", by: "Ada", owner: "@ada", commit: HEAD },
      { test: `${FILE} > rounds` },
    ]);
    expect(licenseText(licensed[0]!)).toBe(`licensed by @Ada's approval as code owner of ${FILE}`);
    expect(notes).toEqual(["src/other.test.js has no code owner at the base"]);
  });

  test.each<[string, readonly PullRequestReview[], string]>([
    ["of an older commit", [review("ada", "approved", { commit: OLD })], "@ada approved bbbbbbbbbbbb, and the pull"],
    ["that was dismissed", [review("ada", "dismissed")], "the latest review of @ada was dismissed"],
    ["before changes were requested", [review("ada"), review("ada", "changes-requested")], "@ada requested changes"],
    ["of a bot", [review("ada", "approved", { isBot: true })], "@ada is a bot"],
    ["of a person who owns nothing", [review("ben")], "an approval of aaaaaaaaaaaa by @ada, code owner of"],
    ["that is only a comment", [review("ada", "comment")], "an approval of aaaaaaaaaaaa by @ada, code owner of"],
  ])("%s does not license", (_, reviews, why) => {
    const { licensed, notes } = ruled({ reviews });
    expect(licensed).toEqual([]);
    expect(notes.join("\n")).toContain(why);
  });

  test("of the author does not license", () => {
    const { licensed, notes } = ruled({ rules: "* @Eve", reviews: [review("eve")] });
    expect(licensed).toEqual([]);
    expect(notes[0]).toContain("@eve is the author of the pull request");
  });

  test("counts again after requested changes, and a later comment does not change it", () => {
    const reviews = [review("ada", "changes-requested"), review("ben", "changes-requested"), review("ada")];
    expect(ruled({ reviews: [...reviews, review("ada", "comment", { commit: OLD })] }).licensed).toHaveLength(1);
  });

  test("of a person without known write permission does not license", () => {
    const reviews = [review("ada")];
    expect(ruled({ reviews, writers: { ada: "no" } })).toMatchObject({
      licensed: [],
      notes: [expect.stringContaining("@ada may not write to the repository"), expect.any(String)],
    });
    const unknown = ruled({ reviews, writers: { ada: { unknown: "403" } } });
    expect(unknown.licensed).toEqual([]);
    expect(unknown.notes[0]).toContain("whether @ada may write to the repository is not known (403)");
    expect(ruled({ reviews, writers: {} }).licensed).toEqual([]);
  });

  test("licenses nothing if the base has no CODEOWNERS, or the file is unknown", () => {
    const reviews = [review("ada")];
    expect(ruled({ rules: null, reviews })).toMatchObject({
      licensed: [],
      notes: ["the base has no CODEOWNERS, so no approval is a license"],
    });
    const unknown = ruled({ reviews, rules: "* @ada", tests: [contested("adds", null)] });
    expect(unknown).toMatchObject({ licensed: [], notes: [expect.stringContaining("the file of")] });
  });
});

describe("an owner that is a team or an email address", () => {
  const rules = "test/ @acme/rates lena@example.org";
  const reviews = [review("ada"), review("ben", "approved", { commit: OLD })];
  const key = memberKey({ team: "acme/rates", login: "ada" });

  test("counts by a member's approval, and only approvers of the head commit are looked up", () => {
    const { texts, questions } = ruled({ rules, reviews, members: { [key]: "yes" } });
    expect(texts).toEqual([`licensed by @ada's approval as code owner of ${FILE} (@acme/rates)`]);
    expect(questions).toEqual({ memberships: [{ team: "acme/rates", login: "ada" }], logins: ["ada"] });
    expect(ruled({ rules, reviews: [review("ben")], members: { [key]: "yes" } }).texts).toEqual([]);
  });

  test("does not license with denied or unknown membership, and the missing scope is named", () => {
    expect(ruled({ rules, reviews, members: { [key]: "no" } }).licensed).toEqual([]);
    const { licensed, notes } = ruled({ rules, reviews, members: { [key]: { unknown: "the forge says 404" } } });
    expect(licensed).toEqual([]);
    expect(notes).toContainEqual(
      "whether @ada is a member of @acme/rates is not known (the forge says 404): use a token that may read the organization's members (scope read:org)",
    );
    expect(notes).toContainEqual(expect.stringContaining("lena@example.org owns test/rates.test.js by an email"));
    expect(ruled({ rules, reviews }).licensed).toEqual([]);
  });
});
