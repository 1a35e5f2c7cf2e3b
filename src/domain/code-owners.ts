import { matchesPlain } from "../stdx/glob.ts";

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
