import { contestedWords, type ContestedTest } from "./contested-test.ts";
import type { GateName } from "./gate.ts";

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
