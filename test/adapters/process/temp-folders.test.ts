import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CELL_PREFIX } from "../../../src/adapters/process/launch.ts";
import { makeTempFolder, removeAbandonedFolders } from "../../../src/adapters/process/temp-folders.ts";

function parentFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), "remand-test-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return parent;
}

/** Makes a folder like that of a process which has ended since. */
async function abandoned(prefix: string, parent: string): Promise<string> {
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  const mine = await makeTempFolder(prefix, parent);
  const left = join(parent, basename(mine).replace(`.${process.pid}-`, `.${pid}-`));
  renameSync(mine, left);
  mkdirSync(join(left, "0", "work", "work"), { recursive: true, mode: 0o700 });
  writeFileSync(join(left, "report.jsonl"), "");
  return left;
}

test("folders of dead processes are removed; those of running ones and of other programs stay", async () => {
  const parent = parentFolder();
  const mine = await makeTempFolder("remand-names-", parent);
  for (const prefix of ["remand-names-", CELL_PREFIX]) await abandoned(prefix, parent);
  for (const name of ["remand-agent-AbCdEf", "remand-names-1.999999999-AbCdEf", "other"]) mkdirSync(join(parent, name));
  await removeAbandonedFolders([parent]);
  const foreign = ["other", "remand-agent-AbCdEf", "remand-names-1.999999999-AbCdEf"];
  expect(readdirSync(parent).toSorted()).toEqual([...foreign, basename(mine)].toSorted());
});

test.runIf(process.platform === "linux")("a folder that a running program uses stays", async () => {
  const parent = parentFolder();
  const used = await abandoned(CELL_PREFIX, parent);
  const program = spawn(process.execPath, ["-e", "setTimeout(() => {}, 600_000)", used]);
  onTestFinished(() => void program.kill("SIGKILL"));
  await removeAbandonedFolders([parent]);
  expect(existsSync(used)).toBe(true);
});
