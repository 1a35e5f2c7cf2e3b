import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeRepository } from "../kit/git-repository.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let project: string;

/** Another project, with the package among its installed modules. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "remand-consumer-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(root, join(project, "node_modules/remand"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(program: string, ...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

test("another project can import it", () => {
  const code = 'const { RemandError } = await import("remand"); console.log(new RemandError("usage", "a", "b").hint);';
  expect(run(process.execPath, "--input-type=module", "-e", code)).toEqual({ status: 0, output: "b\n" });
});

test("another project sees its types", () => {
  const typed = (name: string, value: string): { status: number | null; output: string } => {
    writeFileSync(
      join(project, name),
      `import type { Result } from "remand";\n\nexport const result: Result = ${value};\n`,
    );
    return run(
      process.execPath,
      join(root, "node_modules/typescript/bin/tsc"),
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      name,
    );
  };
  expect(typed("right.ts", '"pass"')).toEqual({ status: 0, output: "" });
  expect(typed("wrong.ts", '"passed"').output).toContain("TS2820");
});

test("its schemas can be found", () => {
  const code = 'console.log(import.meta.resolve("remand/schema/brief.json"));';
  expect(run(process.execPath, "--input-type=module", "-e", code).output).toMatch(/schema\/brief\.json\n$/);
});

test("it contains only the needed files, and its loop runs with those and its dependencies", () => {
  const { stdout } = spawnSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
    cwd: root,
    encoding: "utf8",
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["dist/main.js", "dist/index.js", "dist/index.d.ts", "schema/brief.json", "LICENSE"]),
  );
  expect(
    paths.filter(
      (path) => !/^(dist|plugin|reporters|schema)\/|^(README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(path),
    ),
  ).toEqual([]);

  // As npx installs it: the package's own files, and the dependencies of package.json.
  const modules = join(project, "npx/node_modules");
  mkdirSync(join(modules, "remand"), { recursive: true });
  const tar = ["--extract", "--file", join(project, packed.filename), "--strip-components=1", "-C"];
  expect(run("tar", ...tar, join(modules, "remand"))).toEqual({ status: 0, output: "" });
  const { dependencies } = JSON.parse(readFileSync(join(modules, "remand/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  const checkout = makeRepository({
    "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
    "one.js": "export const one = 2;\n",
    "one.test.js":
      'import test from "node:test";\nimport assert from "node:assert";\nimport { one } from "./one.js";\ntest("is one", () => assert.equal(one, 1));\n',
  });
  onTestFinished(() => checkout.clear());
  const remand = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(modules, "remand/dist/main.js"), ...args], {
      cwd: checkout.root,
      env: checkout.env,
      encoding: "utf8",
    });
  expect(remand("init", "--yes")).toMatchObject({ status: 0, stdout: expect.stringContaining("wrote remand.yaml") });
  const looped = remand("loop", "--check", "npm test", "--", "sed", "-i", "s/2/1/", "one.js");
  expect(looped, looped.stdout + looped.stderr).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/target: one\.test\.js > is one[^]*1 accepted/),
  });
});
