import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConfigLayer, setLayer } from "../../src/config/layer.ts";
import { presetPolicy } from "../../src/config/presets.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { PRESETS } from "../../src/core/events/policy.ts";
import { readYaml } from "../../src/parse/data/yaml-text.ts";

const layer = (text: string, name: ConfigLayer["name"] = "project"): ConfigLayer => {
  const file = name === "project" ? "remand.yaml" : "config.yaml";
  return { ...readYaml(file, text), name };
};
const resolve = (...texts: readonly string[]) =>
  resolveConfig({ layers: texts.map((text, i) => layer(text, i === 0 ? "project" : "user")) });
const errors = (text: string): string[] =>
  resolve(text)
    .problems.filter((p) => p.severity === "error")
    .map((p) => `${p.line}:${p.column}+${p.length} ${p.message}${p.hint === "" ? "" : ` | ${p.hint}`}`);

describe("resolveConfig", () => {
  it.each(PRESETS)("is the preset if nothing else is set (%s)", (preset) => {
    const { policy, problems } = resolve(`preset: ${preset}`);
    expect(problems).toEqual([]);
    expect(policy).toEqual(presetPolicy(preset));
  });

  it("accepts receivers of notifications as words or maps, and refuses unusable ones", () => {
    const { config, problems } = resolve(
      "notify:\n  - desktop\n  - ./tell.sh\n  - { use: slack, urlFrom: SLACK_URL, on: [question] }\n",
    );
    expect(problems).toEqual([]);
    expect(config?.notify).toEqual(["desktop", "./tell.sh", { use: "slack", urlFrom: "SLACK_URL", on: ["question"] }]);
    const refused = (each: string): string => errors(`notify: [${each}]`).join();
    expect(refused("{ use: webhook }")).toContain("a webhook needs url or urlFrom | Write: { use: webhook");
    expect(refused("{ use: slack, url: https://a.example, urlFrom: A }")).toContain("and not both");
    expect(refused("{ use: command }")).toContain("a command needs run");
    expect(refused("{ use: desktop, url: https://a.example }")).toContain('a desktop has no "url"');
    expect(refused("{ use: slak, url: https://a.example }")).toContain('did you mean "slack"?');
    expect(refused("{ use: webhook, url: ftp://a.example }")).toContain("an address such as");
    expect(refused("{ use: webhook, urlForm: A }")).toContain('did you mean "urlFrom"?');
    expect(refused("{ use: desktop, on: [everything] }")).toContain('"notify.0.on.0" must be');
  });

  it("lets the stronger layer win, key by key, and lists as a whole", () => {
    const set = setLayer(["limits.failures=7", "gates.review.failures=2", "redact=[A, B]"]);
    expect(set.problems).toEqual([]);
    const { config, policy } = resolveConfig({
      layers: [
        set.layer,
        layer(
          "preset: factory\nlimits: { failures: 5, iterations: 9 }\nredact: [C]\nagents: { critic: { use: codex } }\n",
        ),
        layer("limits: { failures: 4, iterations: 8, errors: 9 }\nagents: { critic: { model: big } }\n", "user"),
      ],
    });
    expect(config).toMatchObject({
      redact: ["A", "B"],
      agents: { critic: { use: "codex", model: "big" }, "tdd-pair": { fallback: "developer" } },
    });
    expect(policy?.limits).toMatchObject({ iterations: 9, errors: 9, failures: { review: 2, ci: 7 } });
  });

  it("adds up the variables that each layer names", () => {
    const { config } = resolveConfig({
      layers: [setLayer(["env=[A]"]).layer, layer("env: [B, A]\n"), layer("env: [C]\n", "user")],
    });
    expect(config?.env).toEqual(["A", "B", "C"]);
  });

  it("replaces a threshold as a whole, and never mixes two", () => {
    const { policy } = resolve("preset: factory\ngates: { review: { failOn: { blocker: 2 } } }");
    expect(policy?.gates.review.failOn).toEqual({ blocker: 2 });
  });

  it("drops a preset's perspectives if a person sets stages, and vice versa", () => {
    const staged = resolve("preset: story\ngates: { review: { stages: [a, b] } }").policy;
    expect(staged?.gates.review).toMatchObject({ stages: ["a", "b"], stageOrder: "in-order" });
    const sided = resolve("preset: factory\ngates: { review: { perspectives: [a, b] } }").policy;
    expect(sided?.gates.review).toMatchObject({ stages: ["a", "b"], stageOrder: "side-by-side" });
  });

  it("leaves out a phase that is false", () => {
    const { policy } = resolve("preset: story\nphases: { refine: false, plan: [review] }");
    expect(policy?.phases.map((plan) => [plan.phase, plan.gates])).toEqual([
      ["research", ["integrity"]],
      ["plan", ["review"]],
      ["implement", ["integrity", "checks", "review"]],
    ]);
  });

  it("reads durations and sizes", () => {
    const { policy } = resolve(
      "limits: { time: 1h30m, tokens: 1.5M, backoff: 250ms, timeout: { critic: 90s }, run: { tokens: 200k, costUsd: 2.5, time: 1d } }",
    );
    expect(policy?.limits).toMatchObject({
      backoffMs: 250,
      timeoutMs: { critic: 90_000, developer: 900_000 },
      story: { timeMs: 5_400_000, tokens: 1_500_000, costUsd: null },
      run: { timeMs: 86_400_000, tokens: 200_000, costUsd: 2.5 },
    });
    expect(resolve("limits: { tokens: 5000 }").policy?.limits.story.tokens).toBe(5000);
  });

  // S3.8, S3.33
  it("makes an agent named after a language its specialist, unless it has another task", () => {
    const agents =
      "agents:\n  python-reviewer: { use: claude }\n  typescript-engineer: { use: claude }\n  klingon-engineer: { use: claude }\n";
    expect(resolve(agents).policy?.specialists).toEqual([
      { role: "typescript-engineer", languages: ["typescript"] },
      { role: "python-reviewer", languages: ["python"] },
    ]);
    const busy = `${agents}roles: { stage: { code: python-reviewer } }\nspecialists: [{ role: typescript-engineer, paths: [web/**] }]\n`;
    expect(resolve(busy).policy?.specialists).toEqual([{ role: "typescript-engineer", paths: ["web/**"] }]);
  });

  it("passes specialists to the policy", () => {
    const { policy } = resolve("specialists:\n  - { role: css-expert, paths: ['**/*.css'], categories: [style] }\n");
    expect(policy?.specialists).toEqual([{ role: "css-expert", paths: ["**/*.css"], categories: ["style"] }]);
  });

  it("applies the autonomy level to unset values", () => {
    expect(resolve("autonomy: full").policy).toMatchObject({ merge: "auto", concurrency: { stories: 3 } });
    expect(resolve("autonomy: full\nmerge: manual\nconcurrency: { stories: 9 }").policy).toMatchObject({
      merge: "manual",
      concurrency: { stories: 9 },
    });
    expect(resolve("autonomy: conservative").policy?.concurrency.stories).toBe(1);
  });

  it("knows where each value came from", () => {
    const { origins } = resolve(
      "preset: goal\nlimits:\n  time: 1h\ngates:\n  review: { failOn: { major: 1 } }\n",
      "autonomy: full\n",
    );
    expect(
      Object.fromEntries(
        ["preset", "limits.time", "limits.costUsd", "limits.errors", "merge", "autonomy", "gates.review.failOn"].map(
          (path) => [path, origins.get(path)],
        ),
      ),
    ).toEqual({
      preset: { layer: "project", file: "remand.yaml", line: 1 },
      "limits.time": { layer: "project", file: "remand.yaml", line: 3 },
      "limits.costUsd": { layer: "preset", file: "goal" },
      "limits.errors": { layer: "default" },
      merge: { layer: "autonomy", file: "full" },
      autonomy: { layer: "user", file: "config.yaml", line: 1 },
      "gates.review.failOn": { layer: "project", file: "remand.yaml", line: 5 },
    });
  });
});

describe("other tools' names", () => {
  it("reads S4's refinement settings, with a note at each", () => {
    const { policy, problems, origins } = resolve(
      "refinement:\n  maxIterations: 3\n  escalateOnMaxAttempts: skip\n  enableCircuitBreaker: false\n",
    );
    expect(policy).toMatchObject({ limits: { failures: { review: 4 } }, onExhausted: "skip", circuitBreaker: false });
    expect(problems.map((p) => `${p.line}:${p.column} ${p.severity}: ${p.message}`)).toEqual([
      '2:3 warning: "refinement.maxIterations" is read as "limits.failures", which counts failures and so is one more than the reworks',
      '3:3 warning: "refinement.escalateOnMaxAttempts" is read as "onExhausted"',
      '4:3 warning: "refinement.enableCircuitBreaker" is read as "enableCircuitBreaker"',
    ]);
    expect(origins.get("limits.failures")).toEqual({ layer: "project", file: "remand.yaml", line: 2 });
  });

  it("reads S1's names", () => {
    const { policy } = resolve("autonomy_level: full\nrework_budget: 2\nmerge: auto\n");
    expect(policy).toMatchObject({ autonomy: "full", limits: { failures: { tdd: 2 } }, merge: "auto" });
  });

  it("reports the location of the name that the person wrote, and refuses both names together", () => {
    expect(errors("a: 1\nrefinement: { maxIterations: lots }")[0]).toMatch(
      /^2:30\+4 "limits.failures" must be a number/,
    );
    expect(errors("autonomy: full\nautonomy_level: full\n")).toEqual([
      '2:1+14 "autonomy_level" and "autonomy" are the same setting | Keep "autonomy".',
    ]);
    expect(errors("refinement: { maxIteration: 3 }")[0]).toMatch(/^1:1\+10 unknown key "refinement"/);
  });
});

describe("mistakes", () => {
  it.each([
    [
      "specialists: [{ role: a, languages: [pyhton] }]",
      '1:38+6 "specialists.0.languages.0" must be one of typescript, javascript, python, go, rust, java, kotlin, ruby, php, csharp, c, cpp, swift, elixir, shell, sql, css, html, yaml, and is "pyhton" | did you mean "python"?',
    ],
    ["presett: goal", '1:1+7 unknown key "presett" | did you mean "preset"?'],
    ["failures: 3", '1:1+8 unknown key "failures" | did you mean "limits.failures"?'],
    ["gates: { revew: {} }", '1:10+5 unknown key "revew" | did you mean "review"?'],
    ["gates: { review: { failon: {} } }", '1:20+6 unknown key "failon" | did you mean "failOn"?'],
    ["workspace: { xyz: 1 }", '1:14+3 unknown key "xyz" | Known here: setup, share, env, inputs, carry.'],
    ["version: 2", '1:10+1 "version" must be 1, and is 2'],
    [
      "preset: facotry",
      '1:9+7 "preset" must be one of critic-audit, factory, goal, story, and is "facotry" | did you mean "factory"?',
    ],
    ["limits: { failures: 0 }", '1:21+1 "limits.failures" must be at least 1, and is 0'],
    ["limits: { failures: 11 }", '1:21+2 "limits.failures" must be at most 10, and is 11'],
    ["limits: { failures: 2.5 }", '1:21+3 "limits.failures" must be a whole number, and is 2.5'],
    ["limits: { iterations: 101 }", '1:23+3 "limits.iterations" must be at most 100, and is 101'],
    ["limits: { remediations: 11 }", '1:25+2 "limits.remediations" must be at most 10, and is 11'],
    ["limits: { time: 2 }", '1:17+1 "limits.time" must be text, and is 2'],
    [
      "limits: { time: 2 hours }",
      '1:17+7 "limits.time" must be a length of time such as `90s`, `5m` or `1h30m`, and is "2 hours"',
    ],
    ["limits: { time: 0s }", '1:17+2 "limits.time" must be greater than 0'],
    [
      "limits: { tokens: lots }",
      '1:19+4 "limits.tokens" must be a number such as `200000`, `200k` or `2M`, and is "lots"',
    ],
    [
      "limits: { time: 999999999999d }",
      '1:17+13 "limits.time" is longer than a timer can wait | Leave it empty for no limit.',
    ],
    [
      "gates: { checks: { commands: [{ run: x, timeout: 0m }] } }",
      '1:50+2 "gates.checks.commands.0.timeout" must be greater than 0',
    ],
    ["limits: { tokens: 0k }", '1:19+2 "limits.tokens" must be greater than 0'],
    ["limits: { costUsd: -1 }", '1:20+2 "limits.costUsd" must be more than 0, and is -1'],
    ["env: PATH", '1:6+4 "env" must be a list, and is "PATH"'],
    ["stall: []", '1:8+2 "stall" must be a map, and is an empty list'],
    ["env: [[a]]", '1:7+3 "env.0" must be text, and is a list'],
    ["enableCircuitBreaker: 'no'", '1:23+4 "enableCircuitBreaker" must be true or false, and is "no"'],
    ["stories: ''", '1:10+2 "stories" must be some text, and is ""'],
    ["deliver:", '1:1+7 "deliver" must be one of branch, merge, pull-request, and is empty'],
    [
      "agents: { 'a b': {} }",
      '1:11+5 "a b" cannot be a name here | Write a name of letters, digits, `.`, `_` and `-`, the first a letter or a digit.',
    ],
    [
      "agents: { a: { use: gpt } }",
      '1:21+3 "agents.a.use" must be one of claude, codex, acp, model, command, scripted, and is "gpt"',
    ],
    ["gates: { checks: { commands: [{ nmae: x, run: y }] } }", '1:33+4 unknown key "nmae" | did you mean "name"?'],
    [
      "gates: { checks: { commands: [{ name: x }] } }",
      '1:31+11 "gates.checks.commands.0.run" is missing | It must be text.',
    ],
    ["gates: { checks: { commands: [7] } }", '1:31+1 "gates.checks.commands.0" must be text or a map, and is 7'],
    ["phases: { refine: true }", '1:19+4 "phases.refine" must be a list or false, and is true'],
    ["phases: { implement: false }", '1:22+5 "phases.implement" must be a list, and is false'],
    [
      "phases: { implement: [] }",
      '1:22+2 "phases.implement" must be a list with something in it, and is an empty list',
    ],
    [
      "phases: { plan: [reviews] }",
      '1:18+7 "phases.plan.0" must be one of integrity, checks, tdd, review, audit, oracle, mutation, ci, merge, and is "reviews" | did you mean "review"?',
    ],
    [
      "phases: { implement: [checks, checks] }",
      '1:11+9 "phases.implement" has the gate "checks" twice | Keep one of the two.',
    ],
    [
      "merge: auto",
      '1:1+5 "merge: auto" needs "autonomy: full", and the autonomy is "standard" | Raise the autonomy, or let a person merge: merge: manual',
    ],
    [
      "limits: { failures: null }",
      '1:11+8 "limits.failures" cannot be empty in the preset "critic-audit" | Write a number from 1 to 10.',
    ],
    [
      "gates: { review: { stages: [a], perspectives: [b] } }",
      '1:33+12 "gates.review" has stages, one after the other, and perspectives, side by side | Keep one of the two.',
    ],
    [
      "environments: { node20: {} }\ngates: { checks: { commands: [{ run: x, environments: [node2O] }] } }",
      '2:56+6 there is no environment "node2O" | did you mean "node20"?',
    ],
    [
      "gates: { checks: { commands: [{ run: x, environments: [b] }] } }",
      '1:56+1 there is no environment "b" | Add it to `environments`.',
    ],
    [
      "gates: { integrity: { rules: { test-change: off } } }",
      '1:32+11 there is no integrity rule "test-change" | did you mean "test-changed"?',
    ],
    [
      "gates: { review: { rules: { secret: off } } }",
      '1:29+6 the gate "review" has no rules by name | Only gates.integrity.rules has any.',
    ],
    [
      "agents: { a: { fallback: b }, b: { fallback: c }, c: { fallback: b } }",
      "1:56+8 these roles stand in for each other: b → c → b | Take one of these fallbacks out.",
    ],
    [
      "redact: ['(']",
      '1:10+3 "(" is not a regular expression | Put a backslash in front of characters that mean something in one.',
    ],
    ["__proto__: { preset: goal }", expect.stringMatching(/^1:1\+9 unknown key "__proto__"/)],
    ["agents: { __proto__: { use: claude } }", expect.stringMatching(/^1:11\+9 unknown key "__proto__"/)],
    ["- a", "1:1+3 a config must be a map of keys | Write one `key: value` on each line."],
  ])("reports the location of `%s`", (text, message) => {
    expect(errors(text)).toEqual([message]);
    expect(resolve(text)).toMatchObject({ config: null, policy: null });
  });

  // S4.72
  it("are all shown at once, from every layer", () => {
    const { problems } = resolve("presett: 1\nlimits: { failures: 99 }\n", "autonomy: ful\n");
    expect(problems.map((p) => `${p.file}:${p.line}`)).toEqual(["remand.yaml:2", "remand.yaml:1", "config.yaml:1"]);
  });

  it("are reported at the strongest layer that sets the value", () => {
    const { problems } = resolve("autonomy: standard\n", "merge: auto\n");
    expect(problems).toMatchObject([{ file: "config.yaml", line: 1, column: 1 }]);
  });

  it("of a goal's preset: `failures` may be empty there", () => {
    const limits = resolve("preset: goal\nlimits: { failures: null, iterations: 20 }").policy?.limits;
    expect([limits?.failures.checks, limits?.iterations]).toEqual([null, 20]);
  });
});

describe("setLayer", () => {
  it("sets any path to any value, and nothing else", () => {
    const key = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/["]/.test(text) && text !== "__proto__");
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), value, (path, wanted) => {
        const typed = `${path
          .map((part) => JSON.stringify(part))
          .map((part) => (part.includes("\\") ? null : part))
          .join(".")}=${JSON.stringify(wanted)}`;
        fc.pre(!path.some((part) => JSON.stringify(part).includes("\\")));
        const { layer: made, problems } = setLayer([typed]);
        expect(problems).toEqual([]);
        const expected = path.reduceRight<unknown>((inner, part) => Object.fromEntries([[part, inner]]), wanted);
        expect(made.value).toEqual(expected);
        expect(made.keyPlace(path)).toMatchObject({ file: "--set", line: 1, column: 1, source: typed });
      }),
    );
  });

  it("never throws, whatever is typed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 30 }), { maxLength: 4 }),
        fc.constantFrom("", "limits.", "gates.checks."),
        (texts, head) => {
          const { layer: made } = setLayer(texts.map((text) => head + text));
          const { config, problems } = resolveConfig({ layers: [made] });
          expect(config === null).toBe(problems.some((p) => p.severity === "error"));
        },
      ),
    );
  });

  it.each([
    ["nothing", '"nothing" is not path=value'],
    ["=1", '"=1" is not path=value'],
    ["a..b=1", '"a..b=1" is not path=value'],
    ["a=[1", 'the value in "a=[1" is not YAML'],
    ["a=*x", 'the value in "a=*x" is not YAML'],
    [`a=${"[".repeat(5000)}`, expect.stringMatching(/is not YAML$/)],
    [`a=${"x".repeat(20_000)}`, expect.stringMatching(/is not path=value$/)],
  ])("refuses %.20s", (text, message) => {
    expect(setLayer([text]).problems.map((p) => p.message)).toEqual([message]);
  });

  it("lets the last value win, and reports its location", () => {
    const { layer: made } = setLayer(["limits.failures=3", "limits.failures=99"]);
    expect(resolveConfig({ layers: [made] }).problems).toMatchObject([
      { file: "--set", line: 2, column: 17, length: 2 },
    ]);
    expect(made.keyPlace(["nowhere"])).toEqual({ file: "--set", line: 1, column: 1 });
  });
});
