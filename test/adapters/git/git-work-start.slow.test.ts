import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExperimentRunner } from "../../../src/adapters/git/experiment-runner.ts";
import { createWorkStarter, type WorkStarter } from "../../../src/adapters/git/dependencies/work-start.ts";
import type { ExperimentCheckout } from "../../../src/ports/experiment-runner.ts";
import { makeRepository, write, type TestRepository } from "../../kit/git-repository.ts";

let repository: TestRepository;
let notices: string[];
beforeEach(() => {
  notices = [];
  repository = makeRepository({
    "package.json": '{"name":"shop"}\n',
    "package-lock.json": "{}\n",
    "packages/own/index.js": "",
    ".gitignore": "node_modules/\n.venv/\nmade/\n",
  });
  repository.write("node_modules/dep/index.js", "one\n");
  repository.write("node_modules/dep/more.js", "more\n");
});
afterEach(() => repository.clear());

const userState = (): string => join(repository.home, "state");
const options = (more: object = {}) => ({
  root: repository.root,
  userState: userState(),
  setup: null,
  share: null,
  env: repository.env,
  setupEnv: repository.env,
  onNotice: (text: string) => void notices.push(text),
  ...more,
});
const starter = (): WorkStarter => createWorkStarter(repository.root, options());
const openIn = (start: WorkStarter, more: object = {}): Promise<ExperimentCheckout> =>
  createExperimentRunner(options({ ...more, start: () => start.now() })).open({ signal: new AbortController().signal });
const textIn = ({ path }: ExperimentCheckout, file: string): string => readFileSync(join(path, file), "utf8");
const entries = (): string[] => {
  const [folder] = readdirSync(join(userState(), "dependencies"));
  const store = join(userState(), "dependencies", folder!);
  return readdirSync(store)
    .filter((name) => name !== "unfinished")
    .map((name) => join(store, name));
};

async function started(isUnderWay = false): Promise<WorkStarter> {
  const start = starter();
  await start.open(isUnderWay);
  return start;
}

test("packages are those of the start, and are copied once per state", async () => {
  const start = await started();
  const [entry] = entries();
  repository.write("node_modules/dep/index.js", "changed\n");
  repository.write("node_modules/new/index.js", "new\n");
  const bench = await openIn(start);
  expect(textIn(bench, "node_modules/dep/index.js")).toBe("one\n");
  expect(existsSync(join(bench.path, "node_modules/new"))).toBe(false);
  await bench.close();
  await started();
  await started();
  expect(entries()).toHaveLength(2);
  expect(entries()).toContain(entry);
});

test("what a check writes into the copy is removed for the next one, if it can be copied again", async () => {
  const start = await started();
  const first = await openIn(start);
  write(realpathSync(join(first.path, "node_modules/dep")), "added.js", "");
  write(realpathSync(join(first.path, "node_modules/dep")), "index.js", "changed\n");
  const second = await openIn(start);
  expect(textIn(second, "node_modules/dep/index.js")).toBe("one\n");
  expect(existsSync(join(second.path, "node_modules/dep/added.js"))).toBe(false);
  write(realpathSync(join(first.path, "node_modules/dep")), "index.js", "changed\n");
  repository.write("node_modules/dep/index.js", "changed\n");
  await expect(openIn(start)).rejects.toThrow(/node_modules\/dep\/index\.js was changed in the copy/);
});

test("a package of the project leads to the checkout, and a program of an environment to its own Python", async () => {
  symlinkSync("../packages/own", join(repository.root, "node_modules/own"));
  symlinkSync(join(repository.root, "packages/own"), join(repository.root, "node_modules/far"));
  repository.write(".venv/pyvenv.cfg", "");
  repository.write(".venv/lib/python3.12/site-packages/dep.py", "");
  repository.write(".venv/bin/tool", `#!${repository.root}/.venv/bin/python\n`);
  chmodSync(join(repository.root, ".venv/bin/tool"), 0o755);
  const bench = await openIn(await started());
  for (const name of ["own", "far"])
    expect(realpathSync(join(bench.path, "node_modules", name))).toBe(join(bench.path, "packages/own"));
  expect(textIn(bench, ".venv/bin/tool")).toBe(`#!${bench.path}/.venv/bin/python\n`);
  expect(statSync(join(bench.path, ".venv/bin/tool")).mode & 0o111).not.toBe(0);
  expect(realpathSync(join(bench.path, ".venv/lib"))).toContain(userState());
});

test("engines that fill the same entry at once share it, and an incomplete entry is not used", async () => {
  const one = starter();
  const other = starter();
  await Promise.all([one.open(false), other.open(false)]);
  expect(entries()).toHaveLength(1);
  for (const start of [one, other]) expect(textIn(await openIn(start), "node_modules/dep/more.js")).toBe("more\n");
  repository.write("node_modules/dep/index.js", "two\n");
  const store = join(entries()[0]!, "..");
  mkdirSync(join(store, "unfinished/4194304-killed/files"), { recursive: true });
  await started();
  expect(readdirSync(join(store, "unfinished"))).toEqual([]);
});

test("the oldest entries are removed, except those that stories depend on", async () => {
  const pinned = await started();
  const [first] = entries();
  for (let at = 0; at < 8; at++) {
    repository.write("node_modules/dep/index.js", `${at}\n`);
    // Like another engine, which keeps no record.
    await starter().now();
    for (const entry of entries()) utimesSync(join(entry, "entry.json"), at, at);
  }
  expect(entries().length).toBeLessThan(9);
  expect(entries()).toContain(first);
  expect(textIn(await openIn(pinned), "node_modules/dep/index.js")).toBe("one\n");
});

test("after a killed engine, the next one uses packages and settings of the start, and says so", async () => {
  await started();
  repository.write("node_modules/dep/index.js", "by the agent\n");
  repository.git("config", "filter.fix.smudge", "sed s/shop/shed/");
  repository.write(".git/info/attributes", "package.json filter=fix\n");
  const bench = await openIn(await started(true));
  expect(textIn(bench, "node_modules/dep/index.js")).toBe("one\n");
  expect(textIn(bench, "package.json")).toBe('{"name":"shop"}\n');
  expect(notices.join("\n")).toMatch(/packages in .* and the settings of git changed while agents worked/);
});

test("a person's changes between two engines are used, and an agent's earlier changes are not", async () => {
  const start = await started();
  repository.write("node_modules/dep/index.js", "by the agent\n");
  await start.leave(true);
  expect(notices.join()).toContain("changed during this run; checks did not use them");
  const again = await started(true);
  expect(textIn(await openIn(again), "node_modules/dep/index.js")).toBe("one\n");
  await again.leave(true);
  repository.write("node_modules/dep/index.js", "by a person\n");
  repository.git("config", "filter.fix.smudge", "sed s/shop/shed/");
  repository.write(".git/info/attributes", "package.json filter=fix\n");
  const bench = await openIn(await started(true));
  expect(textIn(bench, "node_modules/dep/index.js")).toBe("by a person\n");
  expect(textIn(bench, "package.json")).toBe('{"name":"shed"}\n');
});

test("the setup's result is reused for the same files, or for the same configured inputs", async () => {
  const setup = `mkdir -p node_modules/made; echo >> "${repository.home}/runs"; cp install.txt node_modules/made/`;
  const runs = (): number => readFileSync(join(repository.home, "runs"), "utf8").length;
  const commit = (path: string, text: string): void => {
    repository.write(path, text);
    repository.git("add", "--all");
    repository.git("commit", "--quiet", "-m", path);
  };
  const start = await started();
  commit("install.txt", "1\n");
  commit("package-lock.json", '{ "new": 1 }\n');
  for (const at of [1, 1, 2]) {
    commit("src.js", `${at}\n`.repeat(at));
    expect(textIn(await openIn(start, { setup }), "node_modules/made/install.txt")).toBe("1\n");
    if (at === 1) repository.git("reset", "--quiet", "--hard", "HEAD~1");
  }
  expect(runs()).toBe(2);
  for (const at of [3, 4]) {
    commit("src.js", `${at}\n`);
    await openIn(start, { setup, inputs: ["install.*"] });
  }
  expect(runs()).toBe(3);
  commit("install.txt", "2\n");
  expect(textIn(await openIn(start, { setup, inputs: ["install.*"] }), "node_modules/made/install.txt")).toBe("2\n");
  expect(runs()).toBe(4);
});

test("a result that is more than packages stays in its checkout, and is made again in each", async () => {
  const setup = `mkdir -p made node_modules; echo >> "${repository.home}/runs"`;
  const start = await started();
  repository.write("package-lock.json", '{ "new": 1 }\n');
  repository.git("commit", "--quiet", "--all", "-m", "lockfile");
  for (let at = 0; at < 2; at++) expect(existsSync(join((await openIn(start, { setup })).path, "made"))).toBe(true);
  expect(readFileSync(join(repository.home, "runs"), "utf8")).toBe("\n\n");
});
