import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let project: string;

/** Another project, with the package among its modules. */
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

test("it holds what is needed and nothing else", () => {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["dist/main.js", "dist/index.js", "dist/index.d.ts", "schema/brief.json", "LICENSE"]),
  );
  expect(
    paths.filter(
      (path) => !/^(dist|plugin|reporters|schema)\/|^(README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(path),
    ),
  ).toEqual([]);
});
