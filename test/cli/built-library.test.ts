import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = join(root, "dist");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-import-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("importing the package prints nothing, creates no file, and does not keep the process alive", () => {
  const code = `import ${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)};`;
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
    env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder },
  });
  expect(ended).toMatchObject({ status: 0, signal: null, stdout: "", stderr: "" });
  expect(readdirSync(folder)).toEqual([]);
});

test("importing the package loads no library and of Node's modules only the one that hashes", () => {
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
  // Hashing only computes.
  expect([...outside]).toEqual(["node:crypto"]);
});

test("inputs and results have TypeScript types", () => {
  const project = mkdtempSync(join(tmpdir(), "remand-typed-"));
  const typed = (line: string): string => {
    const lines = [
      'import { brief, loop, parse, run, type Agent, type RunResult } from "remand";',
      "declare const agent: Agent;",
      line,
      "export { brief, loop, parse, run, agent, type RunResult };",
    ];
    writeFileSync(join(project, "typed.ts"), `${lines.join("\n")}\n`);
    const tsc = [
      join(root, "node_modules/typescript/bin/tsc"),
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "typed.ts",
    ];
    return spawnSync(process.execPath, tsc, { cwd: project, encoding: "utf8" }).stdout;
  };
  try {
    mkdirSync(join(project, "node_modules"));
    symlinkSync(root, join(project, "node_modules/remand"));
    writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
    const right = [
      'export const a: RunResult = await loop({ root: ".", check: "true", agent, limits: { iterations: 2 } });',
      'export const b = (await run({ root: ".", config: { preset: "goal" }, agents: { developer: agent } })).stories[0]?.question;',
      'export const c: string = (await brief({ schema: "remand.brief/1", story: { id: "a" } })).text;',
      'export const d = (await parse("", { role: "critic" })).result === "unknown";',
    ];
    expect(typed(right.join("\n"))).toBe("");
    expect(typed('void loop({ root: ".", check: "true", agent: "claude -p" });')).toContain("TS2322");
    expect(typed('void brief({ schema: "remand.brief/1", story: {} });')).toContain("TS2741");
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});
