import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { learnVariables } from "../../../src/adapters/process/own-secrets.ts";
import { momentIn, seenReports, shownPaths } from "../../../src/gates/checks/read-reports.ts";

const VALUE = "hunter2-of-acme-9000";
learnVariables({ ACME_API_TOKEN: VALUE });

test.each([undefined, "/work/of/the/author"])(
  "the output of a check is read without secrets (worked in %s)",
  (workedIn) => {
    const shown = shownPaths({ path: "/clean/checkout", ...(workedIn === undefined ? {} : { workedIn }) });
    const place = workedIn ?? "/clean/checkout";
    expect(shown.text(`/clean/checkout/a.ts: ${VALUE}`)).toBe(`${place}/a.ts: [redacted:listed]`);
    const lines: string[] = [];
    const onLine = shown.lines((line) => void lines.push(line));
    for (const line of [
      VALUE,
      "-----BEGIN RSA PRIVATE KEY-----",
      "abc",
      "-----END RSA PRIVATE KEY-----",
      "/clean/checkout",
    ])
      onLine(line);
    const key = "[redacted:private-key]";
    expect(lines).toEqual(["[redacted:listed]", key, key, key, place]);
  },
);

test("a test has its redacted name, in the report and in the output", async () => {
  const root = mkdtempSync(join(tmpdir(), "reports-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const reports = seenReports(root, ["*.xml"], shownPaths({ path: root }));
  const before = await momentIn(root, ["*.xml"]);
  const test = `<testcase name="uses ${VALUE}" classname="a"><failure message="got ${VALUE}"/></testcase>`;
  writeFileSync(join(root, "a.xml"), `<testsuite name="a" tests="1" failures="1">${test}</testsuite>`);
  const read = JSON.stringify(await reports.since(before));
  expect(read).toContain("uses [redacted:listed]");
  expect(read).not.toContain("hunter2");
});
