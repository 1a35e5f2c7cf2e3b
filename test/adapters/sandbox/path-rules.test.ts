import fc from "fast-check";
import { expect, test } from "vitest";
import { type PathKind, type PathRule, isBelow, planMounts } from "../../../src/adapters/sandbox/path-rules.ts";

const rule = (path: string, kind: PathKind): PathRule => ({ path, kind });

test("parents come before children, whatever the order of the rules", () => {
  const rules = [
    rule("/repo/.remand/worktrees/a", "write"),
    rule("/", "read"),
    rule("/repo/.remand", "hidden"),
    rule("/home/ada", "copy"),
    rule("/home/ada/.ssh", "hidden"),
  ];
  expect(planMounts(rules)).toEqual([
    rule("/", "read"),
    rule("/home/ada", "copy"),
    rule("/home/ada/.ssh", "hidden"),
    rule("/repo/.remand", "hidden"),
    rule("/repo/.remand/worktrees/a", "write"),
  ]);
});

test("a rule that changes nothing is left out", () => {
  const rules = [rule("/", "read"), rule("/repo", "read"), rule("/tmp", "empty"), rule("/tmp/tmux-0", "hidden")];
  expect(planMounts(rules)).toEqual([rule("/", "read"), rule("/tmp", "empty")]);
});

test("a folder shown in place of another overrides every other rule, even inside a copy", () => {
  const shown: PathRule = { path: "/repo/.git", kind: "copy", from: "/views/1" };
  const rules = [rule("/repo", "copy"), rule("/repo/.git", "write"), shown, rule("/repo/.git", "write")];
  expect(planMounts(rules)).toEqual([rule("/repo", "copy"), shown]);
});

test("a folder whose name only begins with the other's is not below it", () => {
  expect(isBelow("/repository", "/repo")).toBe(false);
  expect(planMounts([rule("/a", "hidden"), rule("/ab", "hidden")])).toHaveLength(2);
});

const NAMES = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 }).map((parts) => `/${parts.join("/")}`);
const KINDS = fc.constantFrom<PathKind>("write", "copy", "read", "empty", "hidden");
const RULES = fc.array(fc.record({ path: NAMES, kind: KINDS }), { maxLength: 12 });

/** Returns the kind of a path, by the deepest rule. */
function kindAt(path: string, rules: readonly PathRule[]): PathKind | undefined {
  const ranks: readonly PathKind[] = ["hidden", "empty", "read", "copy", "write"];
  const above = rules.filter((each) => each.path === path || isBelow(path, each.path));
  const deepest = Math.max(...above.map((each) => each.path.length), 0);
  return above
    .filter((each) => each.path.length === deepest)
    .toSorted((a, b) => ranks.indexOf(b.kind) - ranks.indexOf(a.kind))[0]?.kind;
}

test("every path follows its deepest rule, except that nothing is below an empty folder", () => {
  fc.assert(
    fc.property(RULES, NAMES, (rules, path) => {
      const plan = planMounts(rules);
      const [wanted, found] = [kindAt(path, rules), kindAt(path, plan)];
      if (wanted === "hidden" && found === "empty") return;
      expect(found).toBe(wanted);
    }),
  );
});

test("planned rules have parents first", () => {
  fc.assert(
    fc.property(RULES, (rules) => {
      const paths = planMounts(rules).map((each) => each.path);
      paths.forEach((path, at) => expect(paths.slice(0, at).some((earlier) => isBelow(earlier, path))).toBe(false));
    }),
  );
});
