import { type Failure, type FailureReading, signatureOf } from "../../core/blame/failure.ts";

/** Failures with the same message or origin, which are searched together. */
export interface FailureGroup {
  readonly failures: readonly Failure[];
  /** The test runners of the recorded output. */
  readonly runners: readonly string[];
  /**
   * Failures of the same tests in other runs of the same tree, if their messages vary, as in tests that iterate in
   * random order. Absent if they failed as recorded.
   */
  readonly variants?: readonly Failure[];
}

/** All further failures are one group, which is explained only when none of them fails any more. */
const MOST_GROUPS = 6;

/** Groups failures with the same message, or raised by the same line of the code under test. */
export function groupsOf({ failures, runners }: FailureReading): FailureGroup[] {
  const groups: { readonly keys: Set<string>; readonly failures: Failure[] }[] = [];
  for (const failure of failures) {
    const keys = [sayingOf(failure), ...raisedAt(failure)];
    const own = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    const [first = { keys: new Set<string>(), failures: [] }, ...others] = own;
    if (own.length === 0) groups.push(first);
    for (const other of others) {
      for (const key of other.keys) first.keys.add(key);
      first.failures.push(...other.failures);
      groups.splice(groups.indexOf(other), 1);
    }
    for (const key of keys) first.keys.add(key);
    first.failures.push(failure);
  }
  const all = groups.map((group) => group.failures);
  const single = all.length <= MOST_GROUPS ? all : all.slice(0, MOST_GROUPS - 1);
  const rest = all.slice(single.length).flat();
  return [...single, ...(rest.length === 0 ? [] : [rest])].map((each) => ({ failures: each, runners }));
}

/** Returns the innermost frame outside the failing test itself. */
function raisedAt({ frames, file, errorType }: Failure): string[] {
  const [frame] = frames;
  return frame === undefined || frame.file === file ? [] : [`${errorType ?? ""} at ${frame.file}:${frame.line}`];
}

/** Returns the signature without the test's name: only the content of the failure. */
export function sayingOf(failure: Failure): string {
  return signatureOf({ ...failure, test: "", file: "" });
}

/** Adds to the groups the failures of their tests in other runs of the same tree. */
export function varyingGroups(groups: readonly FailureGroup[], again: readonly Failure[]): FailureGroup[] {
  return groups.map((group) => {
    const titles = titlesOf(group.failures);
    return { ...group, variants: again.filter((failure) => failure.test !== null && titles.has(titleIn(failure))) };
  });
}

export const titleIn = ({ test, file }: Failure): string => `${test}\n${file}`;
export const titlesOf = (failures: readonly Failure[]): ReadonlySet<string> => new Set(failures.map(titleIn));

/** Whether the same test failed at the same line with the same kind of error. */
export function isAtSameLine(failure: Failure, seen: readonly Failure[]): boolean {
  const [at] = failure.frames;
  const isSame = (other: Failure): boolean =>
    titleIn(other) === titleIn(failure) &&
    other.errorType === failure.errorType &&
    other.frames[0]?.file === at?.file &&
    other.frames[0]?.line === at?.line;
  return at !== undefined && seen.some(isSame);
}
