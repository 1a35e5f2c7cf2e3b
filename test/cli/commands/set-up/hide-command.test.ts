import { expect, test } from "vitest";
import { command } from "../../../../src/cli/commands/set-up/hide.ts";
import type { HidePlan, HideReport } from "../../../../src/app/host-plans.ts";
import { NO_HOST, on } from "../../../kit/fake-environment.ts";

const REPORT: HideReport = {
  folder: "/state/hidden/1",
  copied: ["test/a b.test.js"],
  hidden: ["test/a b.test.js", "test/c.test.js"],
  left: ["test/a b.test.js"],
  dropped: [],
  commit: null,
  subject: "test: move tests to the hidden checks",
};

async function hide(args: readonly string[], report: Partial<HideReport> = {}) {
  const plans: HidePlan[] = [];
  const host = {
    ...NO_HOST,
    hide: (_root: string, plan: HidePlan) => Promise.resolve({ ...REPORT, ...report, plans: plans.push(plan) }),
  };
  return { ran: await on(host, command, args), plans };
}

test("prints the commit that would remove files which are still in the project", async () => {
  const { ran, plans } = await hide(["./test/a b.test.js"]);
  expect(plans).toEqual([{ paths: ["test/a b.test.js"], commit: false, forget: false }]);
  expect(ran.out.split("\n")).toEqual([
    "Copied 1 file to /state/hidden/1.",
    "They are still in the project, where agents see them. Remove them by a commit:",
    "  git rm --quiet -- 'test/a b.test.js'",
    '  git commit --message "test: move tests to the hidden checks"',
    "or let Remand do it: the same command with --commit.",
    "",
  ]);
});

test("with --commit the commit is named, with --forget the copies are counted", async () => {
  const done = await hide(["--commit", "test"], { left: [], commit: "0123456789abcdef" });
  expect(done.ran.out).toContain("Removed from the project by commit 0123456789ab.");
  const dropped = await hide(["--forget", "test"], { dropped: ["a", "b"] });
  expect(dropped.plans).toMatchObject([{ forget: true }]);
  expect(dropped.ran.out).toBe("Dropped 2 copies.\n");
});

test("without paths it lists what is hidden, and --json prints all of it", async () => {
  expect((await hide([])).ran.out).toBe(
    "2 files hidden, kept in /state/hidden/1:\n  test/a b.test.js\n  test/c.test.js\n",
  );
  expect((await hide([], { hidden: [] })).ran.out).toContain("No file is hidden.");
  expect(JSON.parse((await hide(["--json"])).ran.out)).toMatchObject({
    schema: "remand.hide/1",
    hidden: REPORT.hidden,
  });
});
