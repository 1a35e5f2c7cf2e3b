import { expect, test } from "vitest";
import { ownerRulesAt, withOwnerLicenses } from "../../../src/compose/checks/licenses.ts";
import type { GateReport } from "../../../src/core/gates/gate-report.ts";
import { treeId } from "../../../src/core/events/ids.ts";

const filesOf =
  (files: Readonly<Record<string, string>>) =>
  (_story: string, _at: string, path: string): Promise<string | null> =>
    Promise.resolve(files[path] ?? null);

test("only the first CODEOWNERS of three counts", async () => {
  const all = { ".github/CODEOWNERS": "* @a", CODEOWNERS: "* @b", "docs/CODEOWNERS": "* @c" };
  const owner = async (files: Readonly<Record<string, string>>) =>
    (await ownerRulesAt("base", { fileAt: filesOf(files) }))?.[0]?.owners[0]?.name;
  expect(await owner(all)).toBe("a");
  expect(await owner({ CODEOWNERS: "* @b", "docs/CODEOWNERS": "* @c" })).toBe("b");
  expect(await owner({ "docs/CODEOWNERS": "* @c" })).toBe("c");
  expect(await ownerRulesAt("base", { fileAt: filesOf({}) })).toBeNull();
});

test("an unreachable forge licenses nothing, and the report says so", async () => {
  const contested = [{ test: "a.test.js > adds", why: "fails", file: "a.test.js" }] as const;
  const report: GateReport = {
    judged: { at: null, commit: "c", tree: treeId("t"), base: "b", baseName: "main", folder: "" },
    judgements: [
      {
        gate: "checks",
        result: "pass",
        tree: treeId("t"),
        findings: [],
        blocking: [],
        summary: "checks: pass",
        evidence: [],
        durationMs: 1,
        contested,
      },
    ],
    skipped: [],
  };
  let slept = 0;
  const parts = {
    root: "/nowhere",
    pullRequest: 7,
    rules: [],
    env: { GITHUB_REPOSITORY: "acme/shop", GITHUB_API_URL: "http://127.0.0.1:1" },
    clock: { now: () => 0, sleep: () => Promise.resolve(void slept++) },
    workspace: { fileAt: filesOf({ "a.test.js": "" }) },
    signal: new AbortController().signal,
  };
  const seen = await withOwnerLicenses(report, parts);
  expect(seen).toEqual({
    ...report,
    licenseNotes: [
      expect.stringMatching(/^pull request 7 cannot be read: http:\/\/127\.0\.0\.1:1 cannot be reached: /),
    ],
  });
  expect(slept).toBeGreaterThan(0);
  // Without contested tests the forge is not asked.
  const quiet = { ...report, judgements: report.judgements.map((each) => ({ ...each, contested: [] })) };
  slept = 0;
  expect(await withOwnerLicenses(quiet, parts)).toBe(quiet);
  expect(slept).toBe(0);
});
