import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-import-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("importing the package prints nothing, makes no file, and does not keep the process", () => {
  const code = `import ${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)};`;
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: folder,
    encoding: "utf8",
    timeout: 30_000,
    env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder },
  });
  expect(ended).toMatchObject({ status: 0, signal: null, stdout: "", stderr: "" });
  expect(readdirSync(folder)).toEqual([]);
});

test("importing the package loads no library and no module of Node's that reaches the world", () => {
  const outside = new Set<string>();
  const seen = new Set<string>();
  const walk = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)";/gm)) {
      if (from.startsWith(".")) walk(join(dirname(file), from));
      else outside.add(from);
    }
  };
  walk(join(dist, "index.js"));
  expect(seen.size).toBeGreaterThan(10);
  expect([...outside]).toEqual([]);
});
