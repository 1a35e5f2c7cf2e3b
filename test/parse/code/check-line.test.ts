import { describe, expect, it } from "vitest";
import { scriptOf, startedPrograms } from "../../../src/parse/code/check-line.ts";

const programs = (line: string): string[] => startedPrograms(line).map(({ program }) => program);

describe("startedPrograms", () => {
  it.each([
    ["npm test", ["npm"]],
    ["CI=1 NODE_ENV=test vitest run 2>&1 | tee out.log", ["vitest", "tee"]],
    ["npm run build && node --test 'a b.js'; echo \"x && y\"", ["npm", "node", "echo"]],
    ["grep -q x a.txt || nosuchcmd", ["grep"]],
    ["a || b; c", ["a", "c"]],
    ["a || b && c", ["a"]],
    ["! grep -q x a.txt", ["grep"]],
    ["env A=1 exec python3 -m pytest", ["python3"]],
    ["env -u NODE_ENV npm test", []],
    ['"$RUNNER" x && make', ["make"]],
    ["if test -f a; then b; fi", []],
    ["(cd sub && x)", []],
    ["test $(nosuch) = 1 && y", []],
    ["make > out.txt", ["make"]],
    ["", []],
  ])("%j: %j", (line, expected) => {
    expect(programs(line)).toEqual(expected);
  });

  it("knows when the shell has changed its folder", () => {
    expect(startedPrograms("cd web && ./check.sh")).toEqual([
      { program: "cd", args: ["web"], isMoved: false },
      { program: "./check.sh", args: [], isMoved: true },
    ]);
  });
});

describe("scriptOf", () => {
  it.each([
    ["npm test", "test"],
    ["npm t -- --run", "test"],
    ["npm run check:types", "check:types"],
    ["pnpm run lint", "lint"],
    ["yarn test", "test"],
    ["bun test", null],
    ["npm --prefix web test", null],
    ["npm run --silent x", null],
    ["npm ci", null],
    ["cd web && npm test", null],
    ["node --test", null],
  ])("%j: %j", (line, script) => {
    expect(startedPrograms(line).map(scriptOf).at(-1)).toBe(script);
  });
});
