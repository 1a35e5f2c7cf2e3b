import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeptBaseFaults, createKeptBaseRuns, type KeptBaseRuns } from "../../../src/compose/checks/base-runs.ts";

let folder: string;
let runs: KeptBaseRuns;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-base-runs-"));
  runs = createKeptBaseRuns(folder, () => Promise.resolve("names"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const KEY = { tree: "t", checks: "c", packages: "p" };
const GREEN = { failing: [], flaky: [], isGreen: true };
const file = (): string => join(folder, "base-runs", readdirSync(join(folder, "base-runs"))[0]!);

test("a green run is reused only for the same files, checks and packages", async () => {
  await runs.keep(KEY, GREEN);
  expect(await runs.find(KEY)).toEqual(GREEN);
  for (const other of [{ tree: "u" }, { checks: "d" }, { packages: "q" }])
    expect(await runs.find({ ...KEY, ...other })).toBeNull();
});

test("a red or flaky run is not stored", async () => {
  await runs.keep(KEY, { ...GREEN, isGreen: false, failing: ["a"] });
  await runs.keep(KEY, { ...GREEN, flaky: ["a"] });
  expect(await runs.find(KEY)).toBeNull();
});

test("a run of the day before, or an incomplete file, is not used", async () => {
  await runs.keep(KEY, GREEN);
  writeFileSync(file(), '{"failing":');
  expect(await runs.find(KEY)).toBeNull();
  await runs.keep(KEY, GREEN);
  const before = Date.now() / 1000 - 25 * 60 * 60;
  utimesSync(file(), before, before);
  expect(await runs.find(KEY)).toBeNull();
});

test("faults that a base's tests notice are reused for the same base, tests and checks, for a day", async () => {
  const faults = createKeptBaseFaults(folder, "c");
  await faults.keep("base", "tests", { tripwires: [] });
  expect(await faults.find("base", "tests")).toEqual({ tripwires: [] });
  expect(await faults.find("base", "others")).toBeNull();
  expect(await createKeptBaseFaults(folder, "d").find("base", "tests")).toBeNull();
  const before = Date.now() / 1000 - 25 * 60 * 60;
  utimesSync(file(), before, before);
  expect(await faults.find("base", "tests")).toBeNull();
});
