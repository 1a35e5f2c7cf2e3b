import { describe, expect, test } from "vitest";
import { hasMovedPackages, mergeManifest } from "../../../src/parse/code/manifests.ts";

describe("a manifest with the base's runner settings and the work's dependencies", () => {
  test("package.json: scripts and tools' keys are the base's, the rest is the work's", () => {
    const base = { name: "shop", scripts: { test: "jest" }, jest: { testTimeout: 1 }, dependencies: { a: "1" } };
    const work = {
      name: "shop",
      type: "module",
      scripts: { test: "true" },
      mocha: { spec: "none" },
      dependencies: { a: "1", b: "2" },
    };
    const merged = mergeManifest("web/package.json", JSON.stringify(base), JSON.stringify(work));
    expect(JSON.parse(merged!)).toEqual({
      name: "shop",
      type: "module",
      dependencies: { a: "1", b: "2" },
      scripts: { test: "jest" },
      jest: { testTimeout: 1 },
    });
  });

  test("package.json: a package of the base that the work takes from elsewhere keeps its source", () => {
    const base = { devDependencies: { supertest: "6.3.4", mocha: "10.2.0" } };
    const work = { devDependencies: { supertest: "file:./tools/st", mocha: "10.3.0", real: "npm:supertest@6.3.4" } };
    const merged = mergeManifest("package.json", JSON.stringify(base), JSON.stringify(work));
    expect(JSON.parse(merged!)).toEqual({ devDependencies: { ...work.devDependencies, supertest: "6.3.4" } });
    expect(hasMovedPackages(JSON.stringify(base), JSON.stringify(work))).toBe(true);
    const newer = { devDependencies: { ...base.devDependencies, mocha: "11.0.0" } };
    expect(hasMovedPackages(JSON.stringify(base), JSON.stringify(newer))).toBe(false);
  });

  test("an unreadable package.json stays as in the work", () => {
    expect(mergeManifest("package.json", "{}", "{")).toBeNull();
    expect(mergeManifest("package.json", "[]", "{}")).toBeNull();
  });

  test("pyproject.toml: pytest's settings are the base's, dependencies the work's", () => {
    const base = `[project]\nname = "shop"\ndependencies = ["a"]\n\n[tool.pytest.ini_options]\naddopts = "-q"\n`;
    const work = `[project]\nname = "shop"\ndependencies = [\n  "a",\n  "b",\n]\n\n[tool.pytest.ini_options]\naddopts = "-k nothing"\n\n[tool.ruff]\nline-length = 100\n`;
    const merged = mergeManifest("pyproject.toml", base, work)!;
    expect(merged).toContain('"b"');
    expect(merged).toContain("line-length");
    expect(merged).toContain('addopts = "-q"');
    expect(merged).not.toContain("nothing");
  });

  test("Cargo.toml: test targets are the base's, dependencies the work's", () => {
    const base = `[package]\nname = "shop"\n\n[dependencies]\n`;
    const work = `${base}serde = "1"\n\n[[test]]\nname = "cart"\nharness = false\n`;
    const merged = mergeManifest("Cargo.toml", base, work)!;
    expect(merged).toContain('serde = "1"');
    expect(merged).not.toContain("harness");
  });

  test("Cargo.toml: dependencies of tests and replacements are the base's; others may be added", () => {
    const base = `[package]\nname = "shop"\n\n[dev-dependencies]\ncheck = { path = "check" }\n\n[dev-dependencies.rows]\nversion = "1"\n`;
    const work = `[package]\nname = "shop"\n\n[dev-dependencies]\ncheck = { path = "nothing" }\nmore = "1"\n\n[dev-dependencies.rows]\npath = "nothing"\n\n[patch.crates-io]\nserde = { path = "nothing" }\n`;
    const merged = mergeManifest("Cargo.toml", base, work)!;
    expect(merged).toContain('check = { path = "check" }\nmore = "1"');
    expect(merged).toContain('[dev-dependencies.rows]\nversion = "1"');
    expect(merged).not.toContain("nothing");
    expect(mergeManifest("Cargo.toml", base, base)).toBe(base);
  });

  test("a manifest that the work adds has no runner settings", () => {
    expect(mergeManifest("setup.cfg", "", "[metadata]\nname = shop\n\n[tool:pytest]\naddopts = -k x\n")).toBe(
      "[metadata]\nname = shop\n\n",
    );
    expect(mergeManifest("web/package.json", "", '{ "scripts": { "test": "true" } }')).toBeNull();
  });

  test("package.json: imported names keep their meaning; others may be added", () => {
    const merged = mergeManifest(
      "package.json",
      '{ "imports": { "#check": "./check.js" } }',
      '{ "imports": { "#check": "./nothing.js", "#more": "./more.js" } }',
    );
    expect(JSON.parse(merged!)).toEqual({ imports: { "#check": "./check.js", "#more": "./more.js" } });
  });

  test("setup.cfg: pytest's section is the base's", () => {
    const base = "[metadata]\nname = shop\n\n[tool:pytest]\naddopts = -q\n";
    const merged = mergeManifest("setup.cfg", base, base.replace("-q", "--co").replace("shop", "store"))!;
    expect(merged).toContain("name = store");
    expect(merged).toContain("addopts = -q");
  });

  test("other files are not merged", () => {
    expect(mergeManifest("pom.xml", "<a/>", "<b/>")).toBeNull();
  });
});
