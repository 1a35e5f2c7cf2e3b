import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { command } from "../../../../src/cli/commands/set-up/config.ts";
import { presetConfig } from "../../../../src/config/presets.ts";
import { memoryFiles } from "../../../kit/memory-files.ts";
import { run } from "../../../kit/fake-environment.ts";

const config = (files: Record<string, string>, argv: readonly string[] = [], env: Record<string, string> = {}) =>
  run(["config", ...argv], [command], { files: memoryFiles(files), env });

describe("remand config", () => {
  it("prints the defaults if nothing is configured", async () => {
    const { exit, out, err } = await config({});
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(parse(out)).toEqual(presetConfig("critic-audit"));
  });

  it("reads the guide's example without problems", async () => {
    const { exit, out, err } = await config({
      "/work/remand.yaml": [
        "# yaml-language-server: $schema=./.remand/config.schema.json",
        "version: 1",
        "preset: critic-audit            # critic-audit | factory | goal | story",
        "autonomy: standard",
        "agents:",
        "  developer: { use: claude }",
        "  critic: { use: codex, fallback: security }",
        "  auditor: { use: claude, model: opus }",
        "environments:",
        "  node20: {}",
        "  node24: { run: npx -y -p node@24 --, probe: node --version }",
        "gates:",
        "  checks:",
        "    commands:",
        "      - npm test",
        "      - { name: lint, run: npm run lint, environments: [node20], timeout: 5m }",
        "  review: { failOn: { blocker: 1, critical: 1 } }",
        "workspace: { setup: npm ci, share: [node_modules] }",
        "limits: { failures: 3, costUsd: 5, time: 2h }",
      ].join("\n"),
    });
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(parse(out)).toMatchObject({
      agents: { critic: { use: "codex", fallback: "security" } },
      environments: { node20: {}, node24: { run: "npx -y -p node@24 --" } },
      gates: { checks: { commands: ["npm test", { name: "lint", timeout: "5m" }], blame: true } },
      limits: { costUsd: 5, time: "2h", iterations: 30 },
    });
  });

  it("prints the origin of each value", async () => {
    const files = {
      "/work/remand.yaml": "version: 1\npreset: goal\nlimits:\n  time: 1h\n",
      "/home/ann/.config/remand/config.yaml": "limits: { time: 3h, costUsd: 4 }\nautonomy: full\n",
    };
    const { exit, out } = await config(files, ["--origin", "--set", "limits.iterations=7"], { HOME: "/home/ann" });
    expect(exit).toBe(0);
    const line = (start: string): string | undefined => out.split("\n").find((text) => text.trim().startsWith(start));
    expect(line("iterations:")).toBe("  iterations: 7  # --set");
    expect(line("time: 1h")).toBe("  time: 1h  # remand.yaml:4");
    expect(line("costUsd:")).toBe("  costUsd: 4  # /home/ann/.config/remand/config.yaml:1");
    expect(line("perLocation:")).toBe("  perLocation: 4  # preset goal");
    expect(line("stories: 3")).toBe("  stories: 3  # autonomy full");
    expect(line("errors:")).toBe("  errors: 3  # default");
    expect(parse(out)).toMatchObject({ preset: "goal", merge: "auto" });
  });

  it("reads the user's file from the XDG folder", async () => {
    const files = {
      "/xdg/remand/config.yaml": "preset: factory\n",
      "/home/a/.config/remand/config.yaml": "preset: story\n",
    };
    expect(parse((await config(files, [], { XDG_CONFIG_HOME: "/xdg", HOME: "/home/a" })).out)).toMatchObject({
      preset: "factory",
    });
    expect(parse((await config(files, [], { XDG_CONFIG_HOME: "xdg", HOME: "/home/a" })).out)).toMatchObject({
      preset: "story",
    });
  });

  it("prints the location of every mistake, with a suggestion", async () => {
    const { exit, out, err } = await config({
      "/work/remand.yaml": "version: 1\n\nlimits:\n  failures: 11\n\n\n  presett: goal\n",
    });
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(err).toBe(
      [
        'remand.yaml:4:13: error: "limits.failures" must be at most 10, and is 11',
        "  4 |   failures: 11",
        "    |             ^^",
        'remand.yaml:7:3: error: unknown key "presett"',
        "  7 |   presett: goal",
        "    |   ^^^^^^^",
        '  did you mean "preset"? It stands at the top, not in "limits".',
        "",
      ].join("\n"),
    );
  });

  it("prints locations in --set, too", async () => {
    const { exit, err } = await config({}, ["--set", "preset=gaol", "--set", "nonsense"]);
    expect(exit).toBe(2);
    expect(err).toContain('--set:2:1: error: "nonsense" is not path=value');
    expect(err).toContain(
      '--set:1:8: error: "preset" must be one of critic-audit, factory, goal, story, and is "gaol"\n',
    );
    expect(err).toContain('  did you mean "goal"?');
  });

  it("lists problems in the order of the file", async () => {
    const { err } = await config({
      "/work/remand.yaml": "limits:\n  failurs: 3\n  time: soon\nstorys: x\npreset: gaol\n",
    });
    expect([...err.matchAll(/^remand\.yaml:(\d+):/gm)].map(([, line]) => line)).toEqual(["2", "3", "4", "5"]);
  });

  it("prints a document with the problems under --json", async () => {
    const good = JSON.parse((await config({}, ["--json", "--origin"])).out) as Record<string, unknown>;
    expect(good).toMatchObject({ schema: "remand.config/1", problems: [], config: { version: 1 } });
    expect(good["origins"]).toMatchObject({ "limits.failures": { layer: "preset", file: "critic-audit" } });
    const { exit, out, err } = await config({ "/work/other.yaml": "x: 1\n" }, ["--json", "--config", "other.yaml"]);
    expect({ exit, err }).toEqual({ exit: 2, err: "" });
    expect(JSON.parse(out)).toMatchObject({
      config: null,
      problems: [{ file: "other.yaml", line: 1, column: 1, severity: "error" }],
    });
  });

  it("fails if the named file is missing", async () => {
    const { exit, err } = await config({}, ["--config", "gone.yaml"]);
    expect(exit).toBe(2);
    expect(err).toContain("there is no file gone.yaml");
  });

  it("shows examples in its help", async () => {
    const { exit, out } = await config({}, ["--help"]);
    expect(exit).toBe(0);
    expect(out).toContain("remand config --set preset=goal");
  });
});
