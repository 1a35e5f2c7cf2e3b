import type { CodeOwner, OwnerRule } from "../../core/gates/code-owners.ts";

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
