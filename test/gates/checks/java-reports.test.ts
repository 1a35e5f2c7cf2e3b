import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { javaReports } from "../../../src/gates/checks/name-reports.ts";
import { reportedTests } from "../../../src/parse/tests/test-names.ts";

/** Written by Gradle 8 for JUnit 5. */
const GRADLE = `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="shop.CartTest" tests="3" skipped="1" failures="1" errors="0" timestamp="2026-11-16T04:12:19" hostname="box" time="0.05">
  <properties/>
  <testcase name="adds()" classname="shop.CartTest" time="0.01"/>
  <testcase name="empties()" classname="shop.CartTest" time="0.0"><skipped/></testcase>
  <testcase name="removes()" classname="shop.CartTest" time="0.02">
    <failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError">stack</failure>
  </testcase>
  <system-out><![CDATA[]]></system-out>
</testsuite>
`;

/** Written by Surefire 3. */
const SUREFIRE = GRADLE.replaceAll("()", "").replace("<skipped/>", '<skipped message="later"/>');

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "remand-java-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const outcomes = {
  "src/test/java/shop/CartTest.java > CartTest > adds": "passed",
  "src/test/java/shop/CartTest.java > CartTest > empties": "skipped",
  "src/test/java/shop/CartTest.java > CartTest > removes": "failed",
};

describe("reports that a build writes", () => {
  it.each([
    ["pom.xml", "target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE, "maven"],
    ["build.gradle.kts", "build/test-results/test/TEST-shop.CartTest.xml", GRADLE, "gradle"],
  ])("name the tests of %s's project", async (build, path, text, runner) => {
    write(build, "");
    write("src/test/java/shop/CartTest.java", "");
    const reports = await javaReports(root);
    write(path, text);
    const read = await reports.read();
    expect(read.map((each) => [each.runner, each.isComplete])).toEqual([[runner, true]]);
    const tests = reportedTests(read, { check: "tests", folders: [root] });
    expect(Object.fromEntries(tests.map(({ identity, outcome }) => [identity, outcome]))).toEqual(outcomes);
  });

  it("belong to a module's own folder", async () => {
    write("pom.xml", "");
    write("cart/src/test/kotlin/shop/CartTest.kt", "");
    const reports = await javaReports(root);
    write("cart/target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE);
    const [first] = reportedTests(await reports.read(), { check: "tests", folders: [root] });
    expect(first!.identity).toBe("cart/src/test/kotlin/shop/CartTest.kt > CartTest > adds");
  });

  it("do not count if they are older than the run", async () => {
    write("pom.xml", "");
    write("target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE);
    const reports = await javaReports(root);
    expect(await reports.read()).toEqual([]);
    utimesSync(join(root, "target/surefire-reports/TEST-shop.CartTest.xml"), 1, 1);
    expect(await reports.read()).toEqual([]);
  });

  it("are incomplete if one of them is cut off", async () => {
    write("pom.xml", "");
    const reports = await javaReports(root);
    write("target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE.slice(0, 300));
    expect(await reports.read()).toEqual([{ runner: "maven", tests: [], isComplete: false }]);
  });

  it("are not read in a project without Maven and Gradle", async () => {
    const reports = await javaReports(root);
    write("target/surefire-reports/TEST-shop.CartTest.xml", SUREFIRE);
    expect(await reports.read()).toEqual([]);
  });
});
