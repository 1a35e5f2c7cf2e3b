/** A reporter for Vitest that prints nothing itself. If it replaced the configuration's reporters, it creates them. */
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import report from "./report.cjs";

const folder = report.takeFolder();
const replaced = globalThis[Symbol.for("remand.vitest-reporters")] === true;

export default class {
  async onInit(vitest) {
    if (folder !== null) this.report = report.openReport(folder, "vitest");
    if (process.env.REMAND_COVERAGE) countIn(vitest);
    if (!replaced) return;
    const others = await reportersOf(vitest);
    vitest.reporters.unshift(...others);
    for (const other of others) await other.onInit?.(vitest);
  }

  /** Vitest 3 and newer. */
  onTestRunEnd(modules) {
    this.#finish(modules.map((module) => module.task));
  }

  /** Vitest 2 and older. */
  onFinished(files = []) {
    this.#finish(files);
  }

  #finish(files) {
    for (const file of files) this.#reportFile(file);
    this.report?.end();
    this.report = undefined;
  }

  #reportFile(file) {
    const where = { file: file.filepath };
    if (file.tasks.length === 0 && file.result?.state === "fail") this.report?.test("not-loaded", where);
    for (const { task, names } of testsIn(file.tasks, []))
      this.report?.test(OUTCOMES[task.result?.state] ?? "skipped", where, names.join(" > "));
  }
}

/** Adds a setup file to every project of the run, which counts the lines that tests run in their own process. */
function countIn(vitest) {
  const setup = fileURLToPath(new URL("./vitest-setup.mjs", import.meta.url));
  const entry = new URL("./dist/index.js", pathToFileURL(realpathSync(process.argv[1])));
  if (!existsSync(entry)) return;
  process.env.REMAND_VITEST = entry.href;
  const configs = new Set([vitest.config, ...(vitest.projects ?? []).map(({ config }) => config)]);
  for (const config of configs) config.setupFiles = [setup, ...[config.setupFiles ?? []].flat()];
}

const OUTCOMES = { pass: "passed", fail: "failed" };

function testsIn(tasks, above) {
  return tasks.flatMap((task) => {
    const names = [...above, task.name];
    return task.type === "suite" ? testsIn(task.tasks, names) : [{ task, names }];
  });
}

/** The reporters that Vitest would have used: those of the configuration, or its own default. */
async function reportersOf(vitest) {
  const require = createRequire(process.argv[1]);
  const load = async (name) => (await import(pathToFileURL(require.resolve(name)).href)).ReportersMap;
  const ReportersMap = (await load("vitest/node")) ?? (await load("vitest/reporters"));
  const server = vitest.vite ?? vitest.server;
  const configured = [server.config.test?.reporters ?? []].flat();
  const list = configured.length > 0 ? configured : await defaults(require, ReportersMap);
  return Promise.all(
    list.map(async (entry) => {
      const [reporter, options] = Array.isArray(entry) ? entry : [entry, {}];
      if (typeof reporter !== "string") return reporter;
      const Reporter = ReportersMap[reporter] ?? (await loaded(reporter, server.config.root));
      return new Reporter(options);
    }),
  );
}

async function defaults(require, known) {
  const { isAgent } = "agent" in known ? await import(pathToFileURL(require.resolve("std-env")).href) : {};
  return [isAgent ? "agent" : "default", ...(process.env.GITHUB_ACTIONS === "true" ? ["github-actions"] : [])];
}

async function loaded(name, root) {
  const path = /^[./]/.test(name) ? resolve(root, name) : createRequire(resolve(root, "x.js")).resolve(name);
  return (await import(pathToFileURL(path).href)).default;
}
