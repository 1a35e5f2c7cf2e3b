import { matchesPlain } from "../../stdx/glob.ts";
import { type ContestedTest, contestedWords } from "./contested-test.ts";
import type { GateName } from "./gate.ts";

/** Where GitHub looks for the file, in this order: the first that is there counts alone. */
export const CODE_OWNERS_PATHS = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] as const;

/** One line of CODEOWNERS. Without owners it takes the owners away from what it matches. */
export interface OwnerRule {
  readonly pattern: string;
  readonly owners: readonly CodeOwner[];
}

/** `name` is a login, `org/team`, or an address, without the `@` in front of the first two. */
export interface CodeOwner {
  readonly kind: "person" | "team" | "email";
  readonly name: string;
}

export const ownerText = ({ kind, name }: CodeOwner): string => (kind === "email" ? name : `@${name}`);

/** The owners of a file: those of the last pattern that matches, and none where no pattern does. */
export function ownersOf(rules: readonly OwnerRule[], path: string): readonly CodeOwner[] {
  return rules.findLast(({ pattern }) => matchesOwnerPattern(path, pattern))?.owners ?? [];
}

/**
 * Like a line of `.gitignore`: a slash before the end binds the pattern to the top folder, and what is below a matched
 * folder is matched too. Unlike there, `docs/*` matches no file in a folder of `docs`.
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
  /** As CODEOWNERS names the owner: `@ada`, or the team of hers that owns the file. */
  readonly owner: string;
  /** The file that is owned, from the top of the repository. */
  readonly ownedFile: string;
  /** The commit that was approved. */
  readonly commit: string;
}

export interface OwnerRuling {
  readonly licensed: readonly OwnerLicense[];
  /** Why tests are not licensed, and what would license them. */
  readonly notes: readonly string[];
}

/** "licensed by @ada's approval as code owner of test/rates.test.js" */
export function licenseText({ by, owner, ownedFile }: Pick<OwnerLicense, "by" | "owner" | "ownedFile">): string {
  const team = owner.includes("/") ? ` (${owner})` : "";
  return `licensed by @${by}'s approval as code owner of ${ownedFile}${team}`;
}

/** A test with what speaks against it and who licensed it. */
export const licensedText = (license: OwnerLicense): string =>
  `${license.test} ${contestedWords(license)}; ${licenseText(license)}`;

export interface ReviewedPullRequest {
  readonly author: string;
  /** The newest commit of its branch. */
  readonly head: string;
  /** What the forge makes of the head and its target to try them together; `null` where there is none. */
  readonly mergeCommit: string | null;
  /** The branch it is to be merged into. */
  readonly target: string;
}

export interface PullRequestReview {
  readonly by: string;
  readonly isBot: boolean;
  readonly verdict: "approved" | "changes-requested" | "dismissed" | "comment";
  /** The commit that was looked at. */
  readonly commit: string;
}

/** `unknown`: the forge does not say, and why. */
export type ForgeAnswer = "yes" | "no" | { readonly unknown: string };

/** The rules of a CODEOWNERS file, in their order. As on GitHub, a line that is not valid is left out. */
export function readCodeOwners(text: string): readonly OwnerRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    // A space that belongs to the path is written with a backslash.
    const [word, ...words] = line.match(/(?:\\.|[^\s\\])+/g) ?? [];
    if (word === undefined || word.startsWith("#")) return [];
    const pattern = patternOf(word);
    const end = words.findIndex((each) => each.startsWith("#"));
    const owners = (end < 0 ? words : words.slice(0, end)).map(ownerOf);
    const isValid = pattern !== null && owners.every((owner) => owner !== null);
    return isValid ? [{ pattern, owners }] : [];
  });
}

/** `null` for what `.gitignore` knows and CODEOWNERS does not: negation, ranges, and stars that are no wildcards. */
function patternOf(word: string): string | null {
  if (word.startsWith("!") || /[[\]]|\\[*?]/.test(word)) return null;
  return word.replaceAll(/\\(.)/g, "$1");
}

function ownerOf(word: string): CodeOwner | null {
  const [, name, team] = /^@([\w.-]+)(\/[\w.-]+)?$/.exec(word) ?? [];
  if (name !== undefined) return team === undefined ? { kind: "person", name } : { kind: "team", name: name + team };
  return /^[^@\s]+@[^@\s]+$/.test(word) ? { kind: "email", name: word } : null;
}
