import { matchesPlain } from "../../stdx/glob.ts";
import { type ContestedTest, contestedWords } from "./contested-test.ts";
import type { GateName } from "./gate.ts";

/** Where GitHub looks for the file, in this order. It reads only the first that exists. */
export const CODE_OWNERS_PATHS = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] as const;

/** One line of CODEOWNERS. A line without owners removes the owners of the paths that it matches. */
export interface OwnerRule {
  readonly pattern: string;
  readonly owners: readonly CodeOwner[];
}

/** `name` is a login, `org/team`, or an email address; the first two without their `@`. */
export interface CodeOwner {
  readonly kind: "person" | "team" | "email";
  readonly name: string;
}

export const ownerText = ({ kind, name }: CodeOwner): string => (kind === "email" ? name : `@${name}`);

/** Returns the owners of a file: those of the last pattern that matches, or none. */
export function ownersOf(rules: readonly OwnerRule[], path: string): readonly CodeOwner[] {
  return rules.findLast(({ pattern }) => matchesOwnerPattern(path, pattern))?.owners ?? [];
}

/**
 * Matches like a line of `.gitignore`: a slash before the end anchors the pattern at the top folder, and everything
 * below a matched folder matches, too. Unlike there, `docs/*` matches no file in a subfolder of `docs`.
 */
function matchesOwnerPattern(path: string, pattern: string): boolean {
  const parts = pattern
    .replace(/^\//, "")
    .replace(/\/$/, "")
    .split("/")
    .map((part) => (part === "**" ? part : part.replaceAll(/\*{2,}/g, "*")));
  const isBound = pattern.startsWith("/") || parts.length > 1;
  const glob = [...(isBound ? [] : ["**"]), ...parts].join("/");
  if (pattern.endsWith("/")) return matchesPlain(path, `${glob}/**`);
  const last = parts.at(-1);
  const isFilesOnly = last === "**" || (last === "*" && isBound);
  return matchesPlain(path, glob) || (!isFilesOnly && matchesPlain(path, `${glob}/**`));
}

/** A contested test that a code owner licensed by approving the pull request. */
export interface OwnerLicense extends ContestedTest {
  /** The gate that contested it. */
  readonly gate: GateName;
  /** The login of the person who approved. */
  readonly by: string;
  /** As CODEOWNERS names the owner: `@ada`, or a team of hers that owns the file. */
  readonly owner: string;
  /** The path of the owned file, from the top of the repository. */
  readonly ownedFile: string;
  /** The commit that was approved. */
  readonly commit: string;
}

export interface OwnerRuling {
  readonly licensed: readonly OwnerLicense[];
  /** Why other tests are not licensed, and how to license them. */
  readonly notes: readonly string[];
}

/** "licensed by @ada's approval as code owner of test/rates.test.js" */
export function licenseText({ by, owner, ownedFile }: Pick<OwnerLicense, "by" | "owner" | "ownedFile">): string {
  const team = owner.includes("/") ? ` (${owner})` : "";
  return `licensed by @${by}'s approval as code owner of ${ownedFile}${team}`;
}

/** Formats a test with the reason why it was contested and the person who licensed it. */
export const licensedText = (license: OwnerLicense): string =>
  `${license.test} ${contestedWords(license)}; ${licenseText(license)}`;

export interface ReviewedPullRequest {
  readonly author: string;
  /** The newest commit of its branch. */
  readonly head: string;
  /** The merge of head and target that the forge makes to test them together; `null` if it makes none. */
  readonly mergeCommit: string | null;
  /** The branch that the pull request merges into. */
  readonly target: string;
}

export interface PullRequestReview {
  readonly by: string;
  readonly isBot: boolean;
  readonly verdict: "approved" | "changes-requested" | "dismissed" | "comment";
  /** The commit that was reviewed. */
  readonly commit: string;
}

/** `unknown`: why the forge does not say. */
export type ForgeAnswer = "yes" | "no" | { readonly unknown: string };

/** Reads the rules of a CODEOWNERS file, in order. As on GitHub, invalid lines are skipped. */
export function readCodeOwners(text: string): readonly OwnerRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    // A space in a path is written with a backslash.
    const [word, ...words] = line.match(/(?:\\.|[^\s\\])+/g) ?? [];
    if (word === undefined || word.startsWith("#")) return [];
    const pattern = patternOf(word);
    const end = words.findIndex((each) => each.startsWith("#"));
    const owners = (end < 0 ? words : words.slice(0, end)).map(ownerOf);
    const isValid = pattern !== null && owners.every((owner) => owner !== null);
    return isValid ? [{ pattern, owners }] : [];
  });
}

/** Returns `null` for what `.gitignore` supports and CODEOWNERS does not: negation, ranges and escaped stars. */
function patternOf(word: string): string | null {
  if (word.startsWith("!") || /[[\]]|\\[*?]/.test(word)) return null;
  return word.replaceAll(/\\(.)/g, "$1");
}

function ownerOf(word: string): CodeOwner | null {
  const [, name, team] = /^@([\w.-]+)(\/[\w.-]+)?$/.exec(word) ?? [];
  if (name !== undefined) return team === undefined ? { kind: "person", name } : { kind: "team", name: name + team };
  return /^[^@\s]+@[^@\s]+$/.test(word) ? { kind: "email", name: word } : null;
}
