import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { blocksOf } from "../docs/examples.ts";
import { clientProgram, clientRoot, makeHome, removeHome } from "./installed-clients.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const guide = readFileSync(join(repository, "docs/guide/rehearse.md"), "utf8");

let home: string;
let folder: string;
beforeEach(() => {
  home = makeHome();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "remand-rehearse-")));
});
afterEach(() => {
  removeHome(home);
  rmSync(folder, { recursive: true, force: true });
});

/** The documents' test runs the rest of the page, without a client. */
test("the guide's rehearsal with the real clients does what the guide says", { timeout: 120_000 }, () => {
  cpSync(join(clientRoot("model"), "node_modules"), join(folder, "node_modules"), { recursive: true });
  symlinkSync(repository, join(folder, "node_modules", "remand"));
  const programs = (["claude", "codex"] as const).map((each) => dirname(clientProgram(each)));
  const PATH = [...programs, process.env["PATH"]].join(":");
  const env = { PATH, HOME: home, CODEX_HOME: home, USER: "ada", NO_COLOR: "1" };
  let out = "";
  for (const { info, text } of blocksOf(guide)) {
    const path = /\bfile=(\S+)/.exec(info)?.[1];
    if (path !== undefined) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    } else if (info.startsWith("sh") && !text.includes("npm install")) {
      const ended = spawnSync("bash", ["-ec", text], { cwd: folder, encoding: "utf8", env });
      out = ended.stdout;
      expect(ended.status, out + ended.stderr).toBe(0);
    }
  }
  expect(out.trim().split("\n")).toEqual([
    "integrity: pass",
    "checks: pass (1 of 1)",
    expect.stringMatching(/^review: fail/),
    "integrity: pass",
    "checks: pass (1 of 1)",
    expect.stringMatching(/^review: pass/),
    expect.stringMatching(/^audit: pass/),
    "accepted after 2 attempts, 9 requests",
  ]);
});
