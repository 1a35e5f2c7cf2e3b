import { describe, expect, test } from "vitest";
import { mergeManifest, vendoredModules } from "../../../src/parse/code/manifests.ts";

const BASE = `module example.com/shop

go 1.18

require (
	example.com/check v1.0.0
	example.com/rows v1.2.0 // indirect
)

replace example.com/check => ./check
`;
const merged = (work: string): string => mergeManifest("go.mod", BASE, work)!;

describe("go.mod with the base's replacements of what the base uses", () => {
  test("without changed replacements it is the work's file, unchanged", () => {
    const work = `${BASE}\nrequire example.com/sum v0.0.0\n\nreplace example.com/sum => ./sum\n`;
    expect(merged(work)).toBe(work);
  });

  test.each([
    ["changed", BASE.replace("./check", "./nothing")],
    ["changed for one version", BASE.replace("check => ./check", "check v1.0.0 => ./nothing")],
    ["taken away", BASE.replace("replace example.com/check => ./check\n", "")],
    [
      "in a block",
      BASE.replace("replace example.com/check => ./check", "replace (\n\texample.com/check => ./nothing\n)"),
    ],
    ["new for what the base requires", `${BASE}replace example.com/rows v1.2.0 => ./nothing\n`],
  ])("a replacement that is %s is the base's again", (_how, work) => {
    const text = merged(work);
    expect(text).not.toContain("nothing");
    expect(text.match(/example\.com\/check => \.\/check/g)).toHaveLength(1);
    expect(text).toContain("example.com/rows v1.2.0");
  });

  test("versions and new modules are the work's", () => {
    const work = `${BASE.replace("v1.2.0", "v1.3.0").replace("./check", "./nothing")}replace example.com/new => ./new\n`;
    expect(merged(work)).toContain("example.com/rows v1.3.0");
    expect(merged(work)).toContain("example.com/new => ./new");
  });
});

test("vendor/modules.txt names modules with their versions", () => {
  const text =
    "# example.com/check v1.0.0 => ./check\n## explicit; go 1.18\nexample.com/check\n# example.com/rows v1.2.0\nexample.com/rows/csv\n";
  expect([...vendoredModules(text)]).toEqual([
    ["example.com/check", "v1.0.0 => ./check"],
    ["example.com/rows", "v1.2.0"],
  ]);
});
