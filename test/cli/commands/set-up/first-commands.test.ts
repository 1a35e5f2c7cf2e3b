import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command as completion } from "../../../../src/cli/commands/set-up/completion.ts";
import { command as config } from "../../../../src/cli/commands/set-up/config.ts";
import { command as demo } from "../../../../src/cli/commands/work/demo.ts";
import { DEMO_FILES, QUESTION_FILES } from "../../../../src/cli/demo-files.ts";
import type { AgentSpec } from "../../../../src/app/agent-spec.ts";
import type { Probe } from "../../../../src/app/host.ts";
import { command as doctor } from "../../../../src/cli/commands/set-up/doctor.ts";
import { command as init } from "../../../../src/cli/commands/set-up/init.ts";
import { command as stories } from "../../../../src/cli/commands/read/stories.ts";
import { PRESETS } from "../../../../src/core/events/policy.ts";
import { readAgentScript } from "../../../../src/parse/agent/agent-script.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";
import { fakeHost } from "../../../kit/fake-host.ts";
import { run } from "../../../kit/fake-environment.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";

const TESTED = '{ "scripts": { "test": "vitest" } }';

describe("remand init", () => {
  it.each(PRESETS)(
    "writes a config of the preset %s that is right, and a story that can be started",
    async (preset) => {
      const files = memoryFiles({ "/work/package.json": '{ "scripts": { "test": "vitest" } }' });
      const ran = await run(["init", "--preset", preset], [init], { files });
      expect(ran).toMatchObject({ exit: 0, out: "wrote remand.yaml and stories/sample.md\n" });
      const shown = await run(["config", "--json"], [config], { files });
      expect(JSON.parse(shown.out)).toMatchObject({
        config: { preset, gates: { checks: { commands: ["npm test"] } } },
        problems: [],
      });
      const read = await run(["stories", "--json"], [stories], { files });
      expect(JSON.parse(read.out)).toMatchObject({
        stories: [{ id: "sample", shelf: "ready", criteria: [{}, {}] }],
        problems: [],
      });
    },
  );

  it("names the schema for editors on the first line", async () => {
    const files = memoryFiles({});
    const ran = await run(["init", "--yes"], [init], { files });
    expect(await files.read("/work/remand.yaml")).toMatch(
      /^# yaml-language-server: \$schema=\.\/\.remand\/config\.schema\.json\nversion: 1\n/,
    );
    expect(JSON.parse((await files.read("/work/.remand/config.schema.json"))!)).toMatchObject({
      title: "Remand: config",
      properties: {
        limits: {
          properties: { iterations: { default: 30, description: expect.stringContaining("Attempts of one story") } },
        },
      },
    });
    expect(await files.read("/work/.remand/.gitignore")).toBe("*\n");
    expect(ran.err).toContain("no test command was found");
  });

  it.each([
    [{ "package.json": '{ "scripts": { "test": "vitest" } }', Makefile: "test:\n" }, "npm test"],
    [{ "package.json": '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }' }, null],
    [{ "Cargo.toml": "" }, "cargo test"],
    [{ "pom.xml": "" }, "mvn test"],
    [{ "pom.xml": "", mvnw: "" }, "./mvnw test"],
    [{ "build.gradle.kts": "", gradlew: "" }, "./gradlew test"],
    [{ "build.gradle": "" }, "gradle test"],
    [{ "mix.exs": "" }, "mix test"],
    [{ Makefile: "all:\ntest: all\ncheck: test\n" }, "make test"],
    [{ GNUmakefile: "check:\n\tsh test.sh\n" }, "make check"],
    [{ Makefile: "check := 1\ntests:\n" }, null],
    [{ justfile: "test:\n  sh test.sh\n" }, "just test"],
    [{ "package.json": TESTED, "pnpm-lock.yaml": "" }, "pnpm test"],
    [{ "package.json": TESTED, "yarn.lock": "" }, "yarn test"],
    [{ "package.json": TESTED, "bun.lock": "" }, "bun run test"],
    [{ "package.json": '{ "packageManager": "pnpm@10.1.0", "scripts": { "test": "vitest" } }' }, "pnpm test"],
    [{ "package.json": '{ "scripts": { "test": "jest --watch", "test:ci": "jest" } }' }, "npm run test:ci"],
    [{ "package.json": '{ "devDependencies": { "vitest": "4" } }', "pnpm-lock.yaml": "" }, "pnpm exec vitest run"],
    [{ "package.json": '{ "workspaces": ["packages/*"] }' }, "npm test --workspaces --if-present"],
    [
      { "package.json": "{}", "pnpm-workspace.yaml": "packages:\n  - packages/*\n", "pnpm-lock.yaml": "" },
      "pnpm --recursive test",
    ],
    [{ "package.json": '{ "private": true }', "Cargo.toml": "" }, "cargo test"],
    [{ "Cargo.toml": "[workspace]\nmembers = []\n" }, "cargo test --workspace"],
    [{ "go.work": "go 1.22\n\nuse (\n\t./api\n\t./lib\n)\n" }, "go test ./api/... ./lib/..."],
    [{ "pyproject.toml": "[tool.pytest.ini_options]\n", ".venv/bin/python": "" }, ".venv/bin/python -m pytest -q"],
    [{ "pyproject.toml": "", "tox.ini": "commands = python -m unittest\n" }, "python3 -m unittest -v"],
    [{ "pyproject.toml": "" }, "python3 -m pytest -q"],
    [{ "api/go.mod": "", "docs/package.json": TESTED }, "cd api && go test ./..."],
    [{}, null],
  ])("finds in %j the command %s, and guesses none", async (found, check) => {
    const files = memoryFiles(Object.fromEntries(Object.entries(found).map(([name, text]) => [`/work/${name}`, text])));
    const ran = await run(["init", "--yes"], [init], { files });
    expect(ran.err.includes("no test command was found")).toBe(check === null);
    const { config: written, problems } = JSON.parse((await run(["config", "--json"], [config], { files })).out) as {
      config: { gates: { checks: { commands: string[] } } };
      problems: unknown[];
    };
    expect(written.gates.checks.commands).toEqual(check === null ? [] : [check]);
    expect(problems).toEqual([]);
  });

  it.each([
    [{}, "pytest -q -o pythonpath=."],
    [{ "/work/tests/__init__.py": "" }, "pytest -q"],
    [{ "/work/setup.cfg": "[tool:pytest]\npythonpath = lib\n" }, "pytest -q"],
  ])("lets a pytest of another interpreter find the project's modules: %j", async (more, check) => {
    const files = memoryFiles({ "/work/setup.py": "", "/bin/python3": "", "/tools/pytest": "", ...more });
    const { err } = await run(["init", "--yes"], [init], { files, env: { PATH: "/tools:/bin" } });
    expect(err).toContain(`  test   ${check}\n`);
  });

  it.each([
    [{}, "*\n"],
    [{ "/work/.gitignore": "dist/\n/.venv/\n" }, null],
  ])("makes git ignore the virtual environment of the check: %j", async (more, text) => {
    const files = memoryFiles({ "/work/setup.py": "", "/work/.venv/bin/python": "", ...more });
    const { out } = await run(["init", "--yes"], [init], { files });
    expect(await files.read("/work/.venv/.gitignore")).toBe(text);
    expect(out.includes(".venv/.gitignore")).toBe(text !== null);
  });

  it("shows what it detected, and adds only checks that the tests do not run", async () => {
    const scripts = { test: "npm run lint && mocha", lint: "eslint .", typecheck: "tsc --noEmit" };
    const files = memoryFiles({
      "/work/package.json": JSON.stringify({ scripts, workspaces: ["packages/*"] }),
      "/bin/codex": "",
    });
    const ran = await run(["init", "--yes"], [init], { files, env: { PATH: "/usr/bin:/bin" } });
    expect(ran.err).toContain(
      "remand: found npm (package.json), a monorepo: packages/*\n  test   npm test\n  types  npm run typecheck\n  agent  codex\n",
    );
    const { config: written } = JSON.parse((await run(["config", "--json"], [config], { files })).out) as {
      config: { agents: object; gates: { checks: { commands: string[] } } };
    };
    expect(written.gates.checks.commands).toEqual(["npm test", "npm run typecheck"]);
    expect(written.agents).toMatchObject({ developer: { use: "codex" } });
  });

  it.each([
    ["goal", [], "who works (developer),"],
    ["critic-audit", ["critic", "auditor"], "who works (developer, critic, auditor),"],
    ["story", ["critic"], "who works (developer, critic),"],
  ] as const)("names the roles that the preset %s needs: %j", async (preset, roles, words) => {
    const files = memoryFiles({});
    const ran = await run(["init", "--preset", preset], [init], { files });
    const text = (await files.read("/work/remand.yaml"))!;
    for (const role of ["critic", "auditor"])
      expect(text.includes(`\n  ${role}: {`)).toBe((roles as readonly string[]).includes(role));
    expect(ran.err).toContain(words);
  });

  const scripts = (names: readonly string[], more = {}): string =>
    JSON.stringify({ scripts: Object.fromEntries(names.map((name) => [name, `run-${name}`])), ...more });
  it.each([
    [
      { "package.json": scripts(["test", "lint", "build"], { devDependencies: { "@stryker-mutator/core": "9" } }) },
      null,
      { mutation: ["npx stryker run --mutate {files} --reporters json"], ci: ["npm run lint", "npm run build"] },
    ],
    [{ "package.json": scripts(["test"]), "stryker.conf.mjs": "" }, "integrity, tdd, review, mutation, merge", {}],
    [{ "go.mod": "module x\n" }, "integrity, tdd, review, ci, merge", { ci: ["go vet ./...", "go build ./..."] }],
    [
      { "pyproject.toml": "[tool.ruff.lint]\n", ".venv/bin/python": "", ".venv/bin/ruff": "" },
      "integrity, tdd, review, ci, merge",
      { ci: [".venv/bin/ruff check ."] },
    ],
    // Each package manager gets its own commands.
    [
      {
        "package.json": scripts(["test", "lint", "typecheck", "build"]),
        "stryker.conf.json": "",
        "pnpm-lock.yaml": "",
      },
      null,
      {
        mutation: ["pnpm exec stryker run --mutate {files} --reporters json"],
        ci: ["pnpm run lint", "pnpm run typecheck", "pnpm run build"],
        checks: ["pnpm test"],
      },
    ],
    [
      { "package.json": scripts(["test", "lint"]), "stryker.conf.json": "", "yarn.lock": "" },
      null,
      {
        mutation: ["yarn stryker run --mutate {files} --reporters json"],
        ci: ["yarn run lint"],
        checks: ["yarn test"],
      },
    ],
    [{ "pyproject.toml": "[project]\n", ".github/workflows/ci.yml": "" }, "integrity, tdd, review, merge", { ci: [] }],
    [{ "package.json": "{" }, "integrity, tdd, review, merge", { mutation: [], ci: [] }],
  ])("keeps the gates of the factory that can run in %j: %s", async (found, phases, commands) => {
    const files = memoryFiles(Object.fromEntries(Object.entries(found).map(([name, text]) => [`/work/${name}`, text])));
    await run(["init", "--preset", "factory", "--yes"], [init], { files });
    const text = (await files.read("/work/remand.yaml"))!;
    expect(/implement: \[(.*)\]/.exec(text)?.[1] ?? null).toBe(phases);
    expect(text.includes("forge: { use: github }")).toBe(".github/workflows/ci.yml" in found);
    const { config: written, problems } = JSON.parse((await run(["config", "--json"], [config], { files })).out) as {
      config: { gates: Record<string, { commands: string[] }> };
      problems: unknown[];
    };
    expect(problems).toEqual([]);
    for (const [gate, wanted] of Object.entries(commands)) expect(written.gates[gate]!.commands).toEqual(wanted);
  });

  it("asks three questions on a terminal, and repeats one after an invalid answer", async () => {
    const asked: string[] = [];
    const answers = ["gaol", "story", "", "./agent.sh --model 'big: one'"];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(answers[asked.length - 1] ?? "");
    };
    const files = memoryFiles({ "/work/go.mod": "module x\n" });
    expect(await run(["init"], [init], { files, ask })).toMatchObject({ exit: 0 });
    expect(asked).toEqual([
      expect.stringMatching(/^Which preset\?\n {2}goal +the checks decide\n[^]*\nPreset \[goal\]: $/),
      '"gaol" is none of critic-audit, factory, goal, story. Preset [goal]: ',
      "Check: the command that must pass before work is accepted [go test ./...]: ",
      "Agent: claude, codex, or a command that reads its task from stdin [claude]: ",
    ]);
    const shown = await run(["config", "--json"], [config], { files });
    expect(JSON.parse(shown.out)).toMatchObject({
      config: {
        preset: "story",
        agents: { developer: { use: "command", command: "./agent.sh --model 'big: one'" } },
        gates: { checks: { commands: ["go test ./..."] } },
      },
      problems: [],
    });
  });

  it("accepts any command, or a client by its name", async () => {
    const answers = ["true", "codex"];
    const files = memoryFiles({});
    await run(["init", "--preset", "goal"], [init], { files, ask: () => Promise.resolve(answers.shift() ?? "") });
    const shown = await run(["config", "--json"], [config], { files });
    expect(JSON.parse(shown.out)).toMatchObject({
      config: { agents: { developer: { use: "codex" } }, gates: { checks: { commands: ["true"] } } },
      problems: [],
    });
  });

  it.each([
    ["--yes", {}],
    ["--no-input", {}],
    ["--json", {}],
    ["--quiet", { CI: "true" }],
    ["--quiet", { CLAUDECODE: "1" }],
  ])("asks nothing with %s and %j", async (flag, env) => {
    const ask = (): Promise<string> => Promise.reject(new Error("no question is expected"));
    expect(await run(["init", flag], [init], { files: memoryFiles({}), ask, env })).toMatchObject({ exit: 0 });
  });

  it("overwrites no file", async () => {
    const kept = memoryFiles({ "/work/remand.yaml": "version: 1\n" });
    expect(await run(["init"], [init], { files: kept })).toMatchObject({
      exit: 2,
      err: expect.stringContaining("remand.yaml already exists"),
    });
    expect(await kept.read("/work/remand.yaml")).toBe("version: 1\n");
    const withStories = memoryFiles({ "/work/stories/a.md": "A\n", "/work/go.mod": "module x\n" });
    const ran = await run(["init", "--json"], [init], { files: withStories });
    expect(JSON.parse(ran.out)).toEqual({
      schema: "remand.init/1",
      preset: "goal",
      check: "go test ./...",
      checks: ["go test ./..."],
      found: [{ folder: ".", stack: "Go (go.mod)", packages: null, test: "go test ./...", lint: null, types: null }],
      written: ["remand.yaml"],
    });
    expect(await run(["init", "--preset", "gaol"], [init], { files: memoryFiles({}) })).toMatchObject({
      exit: 2,
      err: expect.stringContaining("Did you mean goal?"),
    });
  });
});

const NO_PREFLIGHT = { problems: [], isGreen: false, summary: "", variables: [] };

describe("remand doctor", () => {
  const GOOD =
    "preset: goal\nagents: { developer: { use: command, command: ./agent.sh --fast } }\ngates: { checks: { commands: [npm test] } }\n";
  const git = { name: "git", ok: true, detail: "2.39", fix: "" };

  it("reports no problem in a working project", async () => {
    const asked: unknown[] = [];
    const host = fakeHost({ probes: [git] });
    const probe = (_root: string, programs: readonly string[], checks: object) => {
      asked.push([...programs], checks);
      return Promise.resolve([git]);
    };
    const ran = await run(["doctor"], [doctor], {
      files: memoryFiles({ "/work/remand.yaml": GOOD }),
      host: { ...host, probe },
    });
    expect(ran.exit).toBe(0);
    expect(ran.out.split("\n")).toEqual([
      "✔ ok       git: 2.39",
      "✔ ok       config: preset goal",
      "✔ ok       stories: 0 read",
      "✔ ok       checks: 1 command",
      "✔ ok       agent developer: command ./agent.sh --fast",
      "",
    ]);
    expect(asked).toMatchObject([["./agent.sh"], { commands: ["npm test"], env: [] }]);
  });

  /** A host whose probes `look` answers. */
  const hostWith = (look: (program: string | AgentSpec) => Omit<Probe, "program">) => ({
    ...fakeHost(),
    probe: (_root: string, programs: readonly (string | AgentSpec)[]) =>
      Promise.resolve([git, ...programs.map((program) => ({ ...look(program), program }))]),
  });

  it("never reports a broken agent as usable", async () => {
    const trouble = { name: "claude", ok: false, detail: "2.1.0, no login", fix: "Log in: claude" };
    const files = memoryFiles({ "/work/remand.yaml": GOOD.replace(/use: command[^}]*/, "use: claude ") });
    const ran = await run(["doctor"], [doctor], { files, host: hostWith(() => trouble) });
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain("problem  agent developer: claude: 2.1.0, no login\n    Log in: claude\n");
    expect(ran.out).not.toContain("ok       agent developer");
  });

  it("names a missing client once, with the roles that need it, and no other of the same kind", async () => {
    const config =
      "preset: critic-audit\nagents: { developer: { use: claude }, auditor: { use: claude }, critic: { use: claude, command: ./own } }\n";
    const files = memoryFiles({ "/work/remand.yaml": config });
    const host = hostWith((program) =>
      typeof program === "object" && program.command === "./own"
        ? { name: "claude", ok: true, detail: "2.1.0", fix: "" }
        : { name: "claude", ok: false, detail: "claude not found", fix: "Install it: npm i -g claude" },
    );
    const ran = await run(["doctor"], [doctor], { files, host });
    expect(ran.out.split("\n").filter((line) => line.includes("claude"))).toEqual([
      "✖ problem  agent developer, auditor: claude not found",
      "    Install it: npm i -g claude",
      "✔ ok       claude: 2.1.0",
      "✔ ok       agent critic: claude ./own",
    ]);
    const { out } = await run(["doctor", "--json"], [doctor], { files, host });
    expect(out).not.toContain("program");
  });

  it("reports a check whose command does not exist", async () => {
    const missing = { name: "check `npm tset`", ok: false, detail: "package.json has no script", fix: "Did you mean?" };
    const host = {
      ...fakeHost({ probes: [git] }),
      preflight: () => Promise.resolve({ ...NO_PREFLIGHT, problems: [missing] }),
    };
    const ran = await run(["doctor"], [doctor], { files: memoryFiles({ "/work/remand.yaml": GOOD }), host });
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain("problem  check `npm tset`: package.json has no script\n    Did you mean?\n");
  });

  it("probes a provider's client once for several roles", async () => {
    const asked: unknown[] = [];
    const probe = (_root: string, programs: readonly unknown[]) => {
      asked.push(...programs);
      return Promise.resolve([git]);
    };
    const config =
      "preset: goal\nenv: [NPM_TOKEN]\nagents: { developer: { use: claude }, critic: { use: claude }, auditor: { use: codex, args: [-c, x=1] } }\n";
    await run(["doctor"], [doctor], {
      files: memoryFiles({ "/work/remand.yaml": config }),
      host: { ...fakeHost(), probe },
    });
    expect(asked).toEqual([
      { use: "claude", env: ["NPM_TOKEN"] },
      { use: "codex", args: ["-c", "x=1"], env: ["NPM_TOKEN"] },
    ]);
  });

  it("probes agents by protocol and models by API, and gives models no work that changes files", async () => {
    const asked: unknown[] = [];
    const probe = (_root: string, programs: readonly unknown[]) => {
      asked.push(...programs);
      return Promise.resolve([git]);
    };
    const agents =
      "agents: { developer: { use: model, model: a/b }, critic: { use: acp, command: gemini --acp, env: [KEY] }, auditor: { use: model } }";
    const ran = await run(["doctor"], [doctor], {
      files: memoryFiles({ "/work/remand.yaml": `preset: critic-audit\n${agents}\n` }),
      host: { ...fakeHost(), probe },
    });
    expect(asked).toEqual([
      { use: "model", model: "a/b" },
      { use: "acp", command: "gemini --acp", env: ["KEY"] },
      { use: "model" },
    ]);
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain("✖ problem  agent developer: a model by its API changes no files\n    Give it to");
    expect(ran.out).toContain("✔ ok       agent auditor: model\n");
  });

  it("says that there is no config, and not what follows from that", async () => {
    const ran = await run(["doctor"], [doctor], { files: memoryFiles({}), host: fakeHost(), env: { LANG: "C" } });
    expect(ran.exit).toBe(1);
    expect(ran.out.split("\n").filter((line) => line.includes("problem"))).toEqual([
      "x problem  config: there is no remand.yaml here",
    ]);
    expect(ran.out).toContain("remand init writes one.");
  });

  it("lists each problem with its fix, and exits with 1", async () => {
    const host = fakeHost({ probes: [{ name: "git", ok: false, detail: "not found", fix: "Install git." }] });
    const files = memoryFiles({
      "/work/remand.yaml": "preset: story\n",
      "/work/stories/x.md": "---\nstatus: raedy\n---\n",
    });
    const ran = await run(["doctor"], [doctor], { files, host, env: { LANG: "C" } });
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain("x problem  git: not found\n    Install git.\n");
    expect(ran.out).toContain(
      'x problem  stories: stories/x.md:2:9: "raedy" is not a status\n    did you mean "ready"?',
    );
    expect(ran.out).toContain("x problem  checks: no command is set\n");
    expect(ran.out).toContain("x problem  agent refiner: no agent plays this role\n");
    const broken = await run(["doctor", "--json"], [doctor], {
      files: memoryFiles({ "/work/remand.yaml": "x: 1\n" }),
      host,
    });
    expect(JSON.parse(broken.out)).toMatchObject({
      schema: "remand.doctor/1",
      probes: expect.arrayContaining([expect.objectContaining({ name: "config", ok: false })]),
    });
  });

  it.each(["npm test || true", "npm test; exit 0", "npm test ||:"])("reports that `%s` cannot fail", async (check) => {
    const files = memoryFiles({ "/work/remand.yaml": GOOD.replace("npm test", JSON.stringify(check)) });
    const ran = await run(["doctor"], [doctor], { files, host: fakeHost() });
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain(`problem  checks: \`${check}\` ends well whatever happens in it\n`);
  });

  it("requires an agent for each reviewing role, and lists the roles that fall back to a person", async () => {
    const files = memoryFiles({ "/work/remand.yaml": GOOD.replace("goal", "critic-audit") });
    const ran = await run(["doctor"], [doctor], { files, host: fakeHost() });
    expect(ran.exit).toBe(1);
    expect(ran.out).toContain(
      "problem  agent critic: no agent plays this role\n    Say who plays it: agents: { critic: { use: command, command: ./my-agent.sh } }\n",
    );
    expect(ran.out).toContain("problem  agent auditor: no agent plays this role\n");
    expect(ran.out).toContain("ok       agent adjudicator: no agent plays this role: a person is asked instead\n");
    const full = memoryFiles({
      "/work/remand.yaml": GOOD.replace("goal", "critic-audit").replace(
        "agents: {",
        "agents: { critic: { use: claude }, auditor: { fallback: critic },",
      ),
    });
    expect((await run(["doctor"], [doctor], { files: full, host: fakeHost() })).exit).toBe(0);
  });

  it("follows a role to its fallback", async () => {
    const files = memoryFiles({ "/work/remand.yaml": `preset: factory\nagents: { developer: { use: claude } }\n` });
    const ran = await run(["doctor"], [doctor], { files, host: fakeHost() });
    expect(ran.out).toContain("agent tdd-pair: claude");
  });
});

describe("remand completion", () => {
  it("completes commands and stories in bash", async () => {
    const { out, exit } = await run(["completion", "bash"], [completion, init, stories]);
    expect(exit).toBe(0);
    const folder = mkdtempSync(join(tmpdir(), "remand-completion-"));
    try {
      mkdirSync(join(folder, "stories"));
      writeFileSync(join(folder, "stories", "checkout-retry.md"), "");
      const complete = (...words: string[]) => {
        const asked = `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _remand; echo "\${COMPREPLY[@]}"`;
        return spawnSync("bash", ["-c", `${out}\n${asked}`], { encoding: "utf8", cwd: folder }).stdout.trim();
      };
      expect(complete("remand", "in")).toBe("init");
      expect(complete("remand", "''")).toBe("stories completion init");
      expect(complete("remand", "show", "check")).toBe("checkout-retry");
      expect(complete("remand", "init", "--dir")).toBe("--directory");
      expect(complete("remand", "init", "--pre")).toBe("--preset");
      expect(complete("remand", "stories", "--pre")).toBe("");
      expect(complete("remand", "--verb")).toBe("--verbose");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("supports zsh and fish, and refuses other shells", async () => {
    expect((await run(["completion", "zsh"], [completion, init])).out).toContain(
      "'init:write a remand.yaml and a sample story'",
    );
    expect((await run(["completion", "zsh"], [completion, init])).out).toMatch(
      /^ {4}init\) options=\('--preset:one of .*'--yes:never ask\\: .*\) ;;$/m,
    );
    const fish = (await run(["completion", "fish"], [completion, init])).out;
    expect(fish).toContain("-f -a init -d 'write a remand.yaml and a sample story'");
    expect(fish).toContain("complete -c remand -n '__fish_seen_subcommand_from init' -l preset -d 'one of ");
    expect(await run(["completion", "powershell"], [completion])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("bash, zsh, fish"),
    });
  });
});

describe("remand demo", () => {
  const files = () =>
    memoryFiles(Object.fromEntries(Object.entries(DEMO_FILES).map(([path, text]) => [`/demo/${path}`, text])));

  it("has a valid config, story and script", async () => {
    const shown = await run(["config", "--json", "-C", "/demo"], [config], {
      files: files(),
      isFolder: () => Promise.resolve(true),
    });
    expect(JSON.parse(shown.out)).toMatchObject({
      problems: [],
      config: { agents: { developer: { use: "scripted", command: "agent-script.yaml" } } },
    });
    const read = await run(["stories", "--json", "-C", "/demo"], [stories], {
      files: files(),
      isFolder: () => Promise.resolve(true),
    });
    expect(JSON.parse(read.out)).toMatchObject({
      problems: [],
      stories: [{ id: "cap-the-wait", criteria: [{}, {}, {}] }],
    });
    const parts = (text: string) => {
      const { script, problems } = readAgentScript("agent-script.yaml", text);
      expect(problems).toEqual([]);
      return script!.parts.map(({ match, attempts }) => [match!.role, attempts.length]);
    };
    const capped = [
      ["developer", 3],
      ["critic", 2],
      ["auditor", 1],
    ];
    expect(parts(DEMO_FILES["agent-script.yaml"]!)).toEqual(capped);
    const spread = [
      ["developer", 2],
      ["critic", 1],
      ["auditor", 1],
    ];
    expect(parts(QUESTION_FILES["agent-script.yaml"]!)).toEqual([...spread, ...capped]);
  });

  it("shows the run, the brief that went back, and what to try next", async () => {
    const gates = { checks: [{ result: "fail", blocking: 1 }], review: [{ result: "fail", blocking: 1 }] } as const;
    const host = fakeHost({ script: scripted({ gates }) });
    const look: typeof host.openView = async (root) => {
      const seen = await host.openView(root);
      return seen === null
        ? null
        : {
            ...seen,
            evidence: {
              ...seen.evidence,
              read: () =>
                Promise.resolve(
                  "## BRIEF\n\n**Goal:** Hello.\n**Gate:** checks\n**Result:** red\n\n**Failing evidence:**\n- Test: the first retry\n\nmore\n\n### Issues Found\n\n- src/retry.js:2: no name\n  a\n  b\n  c\n  d\n  e\n  f\n\nmore\n",
                ),
            },
          };
    };
    const ran = await run(["demo"], [demo], { files: files(), host: { ...host, openView: look } });
    expect(ran).toMatchObject({ exit: 0, err: "" });
    expect(Object.keys(host.demoFiles)).toEqual(Object.keys(DEMO_FILES));
    expect(ran.out).toContain("A small project is in /demo:");
    expect(ran.out).toContain("checks ✖ 1 finding");
    expect(ran.out).toContain("attempt 2");
    expect(ran.out).toContain(
      "  | **Gate:** checks\n  | **Result:** red\n  | **Failing evidence:**\n  | - Test: the first retry\n\n",
    );
    expect(ran.out).toContain("  | ### Issues Found\n  | - src/retry.js:2: no name\n  |   a\n");
    expect(ran.out).toContain("  |   e\n  | …\n\n");
    expect(ran.out).not.toContain("Hello.");
    expect(ran.out).toContain("remand verify");
    expect(ran.out).not.toContain("alias");
    const document = await run(["demo", "--json"], [demo], {
      files: files(),
      host: fakeHost({ script: scripted({ gates: { checks: ["fail", "fail", "fail", "fail", "fail"] } }) }),
    });
    expect(JSON.parse(document.out)).toMatchObject({
      schema: "remand.run/1",
      exit: document.exit,
      counts: { stories: 1 },
    });
  });

  it("prints how to call the program if npx or npm run started it", async () => {
    const script = scripted({ gates: { checks: ["fail", "fail", "fail"] } });
    const env = { npm_command: "exec" };
    const ran = await run(["demo"], [demo], { files: files(), host: fakeHost({ script }), env });
    expect(ran.out).toMatch(/Now look at it\n {2}alias remand='node .+'\n {2}cd \/demo\n/);
  });
});
