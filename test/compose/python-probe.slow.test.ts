import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pythonProbe } from "../../src/compose/probe.ts";
import { makeRepository, type TestRepository } from "../kit/git-repository.ts";
import { makePython, pythonProgram, type PythonEnvironment } from "../kit/python-environment.ts";

const program = pythonProgram();
if (program === null) console.warn("NOT RUN: there is no python3 here");

let repository: TestRepository;
let outside: PythonEnvironment;
beforeEach(() => {
  repository = makeRepository({ "pyproject.toml": '[project]\nname = "shop"\n', "src/shop/__init__.py": "" });
  if (program !== null) outside = makePython(join(repository.home, "environment"), program);
});
afterEach(() => repository.clear());

const said = () => pythonProbe(repository.root, { commands: ["python -m pytest"], env: [] }, outside.env);

describe.skipIf(program === null)("doctor", () => {
  it("reports where a Python project is imported from, and what Remand does about it", async () => {
    const nothing = "nothing of this checkout is installed as editable";
    expect(await said()).toEqual([{ name: "python", ok: true, detail: nothing, fix: "" }]);
    outside.byPath(join(repository.root, "src"));
    const led = "src installed as editable; in a worktree it is imported from the worktree";
    expect(await said()).toEqual([{ name: "python", ok: true, detail: led, fix: "" }]);
  });

  it("reports that another checkout of the repository is installed", async () => {
    const other = join(repository.root, ".remand/worktrees/other");
    repository.git("worktree", "add", "--quiet", "--detach", other);
    outside.byTable({ shop: join(other, "src/shop") });
    const [probe] = await said();
    expect(probe).toMatchObject({ ok: true, detail: expect.stringContaining(join(other, "src/shop")) });
  });

  it("has a fix for imports that no worktree can redirect", async () => {
    outside.byFirstFinder("shop", join(repository.root, "src/shop/__init__.py"));
    const [probe] = await said();
    expect(probe).toMatchObject({ ok: false, detail: expect.stringContaining("_shop_editable_loader") });
    expect(probe!.fix).toContain("workspace: { setup:");
  });

  it("is silent about other projects", async () => {
    repository.git("rm", "--quiet", "pyproject.toml");
    expect(await said()).toEqual([]);
  });
});
