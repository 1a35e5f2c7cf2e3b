import { posix } from "node:path";

/** What a program finds at a path, and below it. The rule of the deepest path counts. */
export interface PathRule {
  readonly path: string;
  readonly kind: PathKind;
  /** Of a copy: the folder that is shown there in place of what is there. */
  readonly from?: string;
}

export type PathKind =
  /** As it is, and what is written is kept. */
  | "write"
  /** As it is; what is written is thrown away. */
  | "copy"
  /** As it is, and cannot be written. */
  | "read"
  /** An empty folder, thrown away afterwards. */
  | "empty"
  /** Nothing, and cannot be written. */
  | "hidden";

/** Of two rules for one path the more generous counts: it was added for this very program. */
const GENEROUS: readonly PathKind[] = ["hidden", "empty", "read", "copy", "write"];

/** One rule for each path, parents before what is below them, without rules that change nothing. */
export function planMounts(rules: readonly PathRule[]): readonly PathRule[] {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const known = byPath.get(rule.path);
    if (known === undefined || isStronger(rule, known)) byPath.set(rule.path, rule);
  }
  const sorted = [...byPath.values()].toSorted((a, b) => order(a.path, b.path));
  return sorted.filter(({ path, kind, from }, index) => {
    if (from !== undefined) return true;
    const above = sorted.slice(0, index).findLast((each) => isBelow(path, each.path));
    // What is below a hidden folder is hidden already; a copy inside of a copy would be a mount for nothing.
    return above?.kind !== kind && !(above?.kind === "empty" && kind === "hidden");
  });
}

/** What is shown in place of another folder is there to keep that one from the program. */
const isStronger = (rule: PathRule, known: PathRule): boolean =>
  known.from === undefined && (rule.from !== undefined || GENEROUS.indexOf(rule.kind) > GENEROUS.indexOf(known.kind));

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const isBelow = (path: string, folder: string): boolean =>
  path !== folder && path.startsWith(folder === posix.sep ? folder : `${folder}/`);
