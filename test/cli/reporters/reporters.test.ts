import { afterEach, describe, expect, it, vi } from "vitest";
import { createReporter, reporterName, type Reporter, type ReporterName } from "../../../src/cli/reporters/reporter.ts";
import { footerLines } from "../../../src/cli/reporters/default.ts";
import { canRedraw, glyphsFor } from "../../../src/cli/terminal-kind.ts";
import { fingerprint, storyId } from "../../../src/core/events/ids.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { ASCII_GLYPHS, UNICODE_GLYPHS } from "../../../src/views/text/words.ts";
import { world as scripted, type Script } from "../../seeds/scripted-run.ts";
import { judgement, story } from "../../kit/story-world.ts";
import { fakeHost } from "../../kit/fake-host.ts";
import { planFor } from "../../kit/finished-run.ts";
import { memoryFiles } from "../../kit/memory-files.ts";

interface Told {
  readonly out: string;
  readonly state: RunState;
  readonly lines: readonly StoredEvent[];
}

interface Setting {
  readonly env?: Record<string, string>;
  readonly terminal?: boolean;
  readonly color?: boolean;
  readonly script?: Script;
  readonly files?: ReturnType<typeof memoryFiles>;
  readonly elapsedMs?: () => number;
  readonly onLine?: (reporter: Reporter) => unknown;
  readonly afterLine?: (reporter: Reporter) => unknown;
}

const fails = (): Script => scripted({ gates: { checks: [{ result: "fail", blocking: 2 }] }, attemptCostUsd: 0.25 });

/** The output of a reporter for a run of one story. */
async function told(name: ReporterName, setting: Setting = {}): Promise<Told> {
  const out: string[] = [];
  const host = fakeHost({ script: setting.script ?? fails() });
  const world = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void out.push(text),
    env: setting.env ?? {},
    color: setting.color ?? false,
    terminal: setting.terminal ?? false,
    columns: () => 60,
    now: () => Date.UTC(2026, 1, 22, 14, 31) + (setting.elapsedMs?.() ?? 0),
    files: setting.files ?? memoryFiles({}),
    host,
  };
  const reporter = await createReporter(name, { world, asked: [storyId("login")] });
  const lines: StoredEvent[] = [];
  const watcher: Reporter = {
    ...reporter,
    onLines: (fresh, state) => {
      lines.push(...fresh);
      setting.onLine?.(reporter);
      reporter.onLines(fresh, state);
      setting.afterLine?.(reporter);
    },
  };
  const owned = await host.openEngine("/work", { ...planFor([story("login")]), watcher });
  const state = await owned.drive(new AbortController().signal);
  await reporter.end(state);
  return { out: out.join(""), state, lines };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the choice of a reporter", () => {
  it.each([
    [undefined, {}, "default"],
    [undefined, { CLAUDECODE: "1" }, "minimal"],
    [undefined, { CI: "true" }, "minimal"],
    [undefined, { CI: "false" }, "default"],
    [undefined, { CI: "true", GITHUB_ACTIONS: "true" }, "github"],
    [undefined, { REMAND_REPORTER: "jsonl", CI: "true" }, "jsonl"],
    ["default", { CLAUDECODE: "1" }, "default"],
  ])("%s with %j is %s", (typed, env, name) => {
    expect(reporterName(typed, env)).toBe(name);
  });

  it.each([
    [{}, UNICODE_GLYPHS],
    [{ LANG: "en_GB.UTF-8" }, UNICODE_GLYPHS],
    [{ LANG: "C" }, ASCII_GLYPHS],
    [{ LC_ALL: "POSIX", LANG: "en_GB.UTF-8" }, ASCII_GLYPHS],
    [{ LANG: "en_GB.UTF-8", TERM: "dumb" }, ASCII_GLYPHS],
  ])("in %j uses symbols that the terminal can show", (env, glyphs) => {
    expect(glyphsFor(env)).toBe(glyphs);
  });

  it("redraws only on a terminal", () => {
    expect(canRedraw({}, true)).toBe(true);
    expect(canRedraw({}, false)).toBe(false);
    expect(canRedraw({ TERM: "dumb" }, true)).toBe(false);
    expect(canRedraw({ CI: "1" }, true)).toBe(false);
  });
});

describe("default", () => {
  it("prints permanent lines and no cursor movement if the output is not a terminal", async () => {
    const { out } = await told("default");
    expect(out).not.toContain("\u001b");
    expect(out).toContain(
      "✖ login  implement  attempt 1  $0.25   integrity ✔  checks ✖ 2 findings\n    src/f0.ts:1 checks 1 0x\n",
    );
    expect(out.endsWith("1 story · 1 accepted · $0.50 of $10.00\n")).toBe(true);
  });

  it("prints the same in ASCII on terminals without symbols", async () => {
    const { out } = await told("default", { env: { LANG: "C" } });
    expect(out).toContain("x login  implement  attempt 1  $0.25   integrity ok  checks FAIL 2 findings\n");
    expect(out).toContain("< login  rework 1 (failure 1)  the checks gate failed -> developer\n");
    expect(out).toMatch(/^[\u0020-\u007e\n]*$/);
  });

  it("colors symbols, never words alone", async () => {
    const { out } = await told("default", { color: true });
    expect(out).toContain("\u001b[31m✖\u001b[39m \u001b[1mlogin \u001b[22m");
    expect(out).toContain("integrity \u001b[32m✔\u001b[39m");
  });

  it("redraws a footer of at most three lines, and erases it at the end", async () => {
    vi.useFakeTimers();
    const printed = "\u001b[2Jline of \u{1F600} output ".repeat(20);
    const { out } = await told("default", {
      terminal: true,
      afterLine: (reporter) => {
        reporter.onOutput({ key: "k", story: storyId("login"), type: "accept" }, printed);
        vi.advanceTimersByTime(1000);
      },
    });
    expect(out).toContain("▶ login attempt 1, developer works");
    expect(out).toContain("  login: line of");
    expect(out).not.toContain("\u001b[?1049h");
    expect(out).not.toContain("\u001b[2J");
    // On a terminal, the footer shows what starts.
    expect(out).not.toMatch(/^▶ login {2}implement/m);
    expect(screenAfter(out)).toEqual([
      "✖ login  implement  attempt 1  $0.25   integrity ✔  checks ✖ 2 findings",
      "    src/f0.ts:1 checks 1 0x",
      "    src/f1.ts:1 checks 1 1x",
      "↩ login  rework 1 (failure 1)  the checks gate failed → developer",
      "✔ login  implement  attempt 2  $0.25   integrity ✔  checks ✔   accepted",
      "1 story · 1 accepted · $0.50 of $10.00",
    ]);
  });

  it("prints a message among its lines, not below the footer", async () => {
    let said = 0;
    const { out } = await told("default", {
      terminal: true,
      onLine: (reporter) => said++ === 3 && reporter.note("stopping\n"),
    });
    expect(screenAfter(out)[0]).toBe("stopping");
    expect(screenAfter(out).filter((line) => line.startsWith("▶"))).toEqual([]);
  });

  it("drops the output of ended steps", async () => {
    const { out } = await told("default", { terminal: true });
    // Each line is printed before its step's start is reported here, so no footer may show it.
    expect(out).not.toContain("says something");
  });

  it("shows that it is alive while nothing happens", async () => {
    vi.useFakeTimers();
    let ticks = 0;
    const { out } = await told("default", {
      terminal: true,
      onLine: () => {
        if (ticks++ === 3) vi.advanceTimersByTime(3000);
      },
    });
    const { out: without } = await told("default", { terminal: true });
    expect(out.split("\u001b[J").length).toBe(without.split("\u001b[J").length + 3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("prints what is running without a terminal, at growing intervals", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const began = performance.now();
    const { out } = await told("default", {
      elapsedMs: () => performance.now() - began,
      // The duration of one agent's work.
      afterLine: () => vi.advanceTimersByTime(20_000),
    });
    const [, attempt = ""] = out.split(/^▶.*\n/m);
    expect(
      attempt.split(/^[^r]/m)[0]!.match(/^remand: still running: login attempt 1, developer works/gm),
    ).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** The content of a terminal after this text was written to it. */
function screenAfter(text: string): string[] {
  const lines = [""];
  for (const part of text.split(/(\r\u001b\[\d+A\u001b\[J)/)) {
    const up = /^\r\u001b\[(\d+)A/.exec(part);
    if (up === null) {
      const [first = "", ...rest] = part.replaceAll(/\u001b\[[\d;]*m/g, "").split("\n");
      lines.push(lines.pop()! + first);
      lines.push(...rest);
    } else lines.splice(lines.length - 1 - Number(up[1]), Infinity, "");
  }
  return lines.slice(0, -1);
}

describe("the footer", () => {
  it("is never wider than the terminal nor higher than three lines", async () => {
    const stories = Array.from({ length: 6 }, (_, i) => story(`story-${i}`));
    const host = fakeHost();
    await host.openEngine("/work", {
      ...planFor(stories),
      watcher: { onLines: () => undefined, onOutput: () => undefined },
    });
    for (const { id } of stories) await host.write(id, { type: "story.started", by: "engine" });
    const view = {
      state: host.state(),
      asked: stories.map(({ id }) => id),
      beganAt: 0,
      now: 61_000,
      glyphs: UNICODE_GLYPHS,
    };
    const lines = footerLines({ ...view, output: "字".repeat(100), columns: 40 });
    expect(lines).toHaveLength(3);
    // The symbol counts as two columns, because some terminals draw it that wide.
    expect(lines[0]).toBe("▶ story-0 prepare 0 ms · story-1 prepa");
    expect(lines[1]).toBe(`  ${"字".repeat(18)}`);
    expect(footerLines({ ...view, output: "", columns: 200 })[0]).toContain("and 3 more");
    expect(footerLines({ ...view, output: "", columns: 200 }).at(-1)).toBe("6 stories · 6 running · 1 m 1 s");
  });
});

describe("minimal", () => {
  it("prints only what is decided", async () => {
    const { out } = await told("minimal");
    expect(out.split("\n").map((line) => line.slice(0, 1))).toEqual(["✖", " ", " ", "↩", "✔", "1", ""]);
    expect(out).not.toContain("works");
  });
});

describe("jsonl", () => {
  it("prints each journal line, then the final state", async () => {
    const { out, lines } = await told("jsonl");
    const printed = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(printed.slice(0, -1)).toEqual(lines.map((line) => ({ schema: "remand.journal-line/1", ...line })));
    expect(printed.at(-1)).toMatchObject({ schema: "remand.run/1", exit: 0 });
  });
});

describe("github", () => {
  it("folds the reasons and annotates the lines", async () => {
    const { out } = await told("github");
    expect(out).toContain(
      "::group::✖ login implement  attempt 1  $0.25   integrity ✔  checks ✖ 2 findings\n    src/f0.ts:1 checks 1 0x\n",
    );
    expect(out).toContain("::endgroup::\n::error file=src/f0.ts,line=1,title=login%3A checks::checks 1 0x\n");
    expect(out).toContain("::notice title=Remand::1 story · 1 accepted");
  });

  it("does not let text of agents act as workflow commands", async () => {
    const bad = judgement("checks", "x", "fail", { more: {} });
    const evil = "::set-output name=x::y\n::error::z%0A";
    const findings = bad.findings.flatMap(({ file: _file, ...finding }) => [
      { ...finding, message: evil },
      { ...finding, message: evil, file: "a,b:c.ts", id: fingerprint("other") },
    ]);
    const script: Script = (command) => {
      if (command.type !== "start-gate" || command.gate !== "checks" || command.since !== null) return null;
      return [
        {
          type: "gate.judged",
          judgement: { ...bad, tree: command.tree, findings, blocking: findings.map(({ id }) => id) },
        },
      ];
    };
    const { out } = await told("github", { script });
    expect(out).toContain(
      "::error file=a%2Cb%3Ac.ts,line=1,title=login%3A checks::::set-output name=x::y ::error::z%250A\n",
    );
    const commands = out.split("\n").flatMap((line) => /^\s*::(\w[\w-]*)/.exec(line)?.[1] ?? []);
    expect([...new Set(commands)].sort()).toEqual(["endgroup", "error", "group", "notice"]);
  });

  it("writes the summary page", async () => {
    const files = memoryFiles({ "/tmp/summary.md": "# before\n" });
    await told("github", { env: { GITHUB_STEP_SUMMARY: "/tmp/summary.md" }, files });
    expect(await files.read("/tmp/summary.md")).toBe(
      "# before\n## Remand\n\n1 story · 1 accepted · $0.50 of $10.00\n\n| story | state | attempts | |\n|---|---|---|---|\n| login | accepted | 2 | all gates passed |\n",
    );
  });

  it("reports a question to a person as a warning", async () => {
    const same = { result: "fail", failure: "same", blocking: 1 } as const;
    const { out } = await told("github", { script: scripted({ gates: { checks: [same, same, same, same] } }) });
    expect(out).toContain("::warning title=login needs you::What should change before the next attempt?\n");
  });
});
