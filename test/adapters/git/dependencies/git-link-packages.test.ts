import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkPackages } from "../../../../src/adapters/git/dependencies/link-packages.ts";
import { write } from "../../../kit/git-repository.ts";

let home: string;
let main: string;
let worktree: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "remand-lend-")));
  main = join(home, "main");
  worktree = join(main, ".remand/worktrees/story");
  for (const root of [main, worktree]) {
    write(root, "package.json", "{}");
    write(root, "packages/own/cli.js", root);
  }
  write(main, "node_modules/dep/index.js", "");
  write(main, "node_modules/@acme/dep/index.js", "");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const link = (target: string, path: string): void => {
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync(target, path);
};
const real = (path: string): string => realpathSync(join(worktree, path));

test("links lead to the checkout for others' packages, and to the worktree for the project's own", async () => {
  link("../packages/own", join(main, "node_modules/near"));
  link(join(main, "packages/own"), join(main, "node_modules/far"));
  // As `npm link` does: a link to a global folder, and from there a link to the package.
  link(join(main, "packages/own"), join(home, "global/node_modules/own"));
  link("../../global/node_modules/own", join(main, "node_modules/own"));
  link(join(home, "global/node_modules/own"), join(main, "node_modules/@acme/own"));
  link("..", join(main, "node_modules/itself"));
  await linkPackages({ root: main, checkout: main }, "node_modules", worktree);
  for (const name of ["near", "far", "own", "@acme/own"])
    expect(real(`node_modules/${name}`)).toBe(join(worktree, "packages/own"));
  expect(real("node_modules/itself")).toBe(worktree);
  expect(real("node_modules/dep")).toBe(join(main, "node_modules/dep"));
  expect(real("node_modules/@acme/dep")).toBe(join(main, "node_modules/@acme/dep"));
});

test("a program of the project's own package leads to the worktree", async () => {
  link("../packages/own", join(main, "node_modules/own"));
  link("../own/cli.js", join(main, "node_modules/.bin/own"));
  link("../dep/index.js", join(main, "node_modules/.bin/dep"));
  write(main, "node_modules/.bin/script", "#!/bin/sh\n");
  await linkPackages({ root: main, checkout: main }, "node_modules", worktree);
  expect(readFileSync(join(worktree, "node_modules/.bin/own"), "utf8")).toBe(worktree);
  expect(real("node_modules/.bin/dep")).toBe(join(main, "node_modules/dep/index.js"));
  expect(readFileSync(join(worktree, "node_modules/.bin/script"), "utf8")).toBe("#!/bin/sh\n");
});

test("a program added or overwritten in a worktree does not change in the checkout", async () => {
  write(main, "node_modules/.bin/script", "#!/bin/sh\n");
  write(main, ".venv/pyvenv.cfg", "");
  write(main, ".venv/bin/tool", "#!/bin/sh\n");
  for (const folder of ["node_modules", ".venv"]) await linkPackages({ root: main, checkout: main }, folder, worktree);
  for (const program of ["node_modules/.bin/script", "node_modules/.bin/node", ".venv/bin/tool", ".venv/bin/pytest"])
    write(worktree, program, "changed");
  expect(readFileSync(join(main, "node_modules/.bin/script"), "utf8")).toBe("#!/bin/sh\n");
  expect(readFileSync(join(main, ".venv/bin/tool"), "utf8")).toBe("#!/bin/sh\n");
  expect([existsSync(join(main, "node_modules/.bin/node")), existsSync(join(main, ".venv/bin/pytest"))]).toEqual([
    false,
    false,
  ]);
});

test("nothing is written through a link in the work that leads to the checkout", async () => {
  write(main, "packages/linked/node_modules/dep/index.js", "kept");
  link(join(main, "packages/linked"), join(worktree, "packages/linked"));
  await linkPackages({ root: main, checkout: main }, "packages/linked/node_modules", worktree);
  expect(lstatSync(join(main, "packages/linked/node_modules/dep")).isSymbolicLink()).toBe(false);
  expect(readFileSync(join(main, "packages/linked/node_modules/dep/index.js"), "utf8")).toBe("kept");
});

test("Composer's packages are copied, because PHP resolves links", async () => {
  write(main, "vendor/autoload.php", "<?php");
  write(main, "vendor/composer/autoload_real.php", "<?php");
  link("../../packages/own", join(main, "vendor/acme/own"));
  await linkPackages({ root: main, checkout: main }, "vendor", worktree);
  for (const path of ["vendor/autoload.php", "vendor/composer/autoload_real.php"])
    expect(real(path)).toBe(join(worktree, path));
  expect(real("vendor/acme/own")).toBe(join(worktree, "packages/own"));
});
