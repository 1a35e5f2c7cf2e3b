import { describe, expect, test } from "vitest";
import type { CliCommand } from "../../src/app/command.ts";
import { COMMANDS, COMMAND_GROUPS } from "../../src/cli/command-table.ts";
import { RemandError } from "../../src/core/events/error.ts";
import { fakeCommand, run } from "../kit/fake-environment.ts";
import { memoryFiles } from "../kit/memory-files.ts";

const parse = fakeCommand("parse", (world) => world.out("parsed\n"));
const stories = fakeCommand("stories", (world) => world.out("told\n"));

describe("help", () => {
  test.each([[["--help"]], [["help"]], [[]]])(
    "%j shows the examples first, then every command, and loads none",
    async (argv) => {
      const ran = await run(argv, [parse, stories]);
      expect(ran.exit).toBe(0);
      expect(ran.err).toBe("");
      expect(ran.loaded).toEqual([]);
      expect(ran.out).toMatch(/^Examples:\n {2}remand /);
      expect(ran.out.indexOf("Examples:")).toBeLessThan(ran.out.indexOf("Usage:"));
      expect(ran.out).toContain("read the signal or verdict in an agent's text");
      expect(ran.out).toContain("list the stories, and the problems in their files");
    },
  );

  test("without a command, prints the status of a project", async () => {
    const status = fakeCommand(
      "status",
      (world, options) => world.out(options["short"] === true ? "all is well\n" : "everything\n"),
      (command) => command.option("--short"),
    );
    const files = memoryFiles({ "/work/remand.yaml": "" });
    expect(await run([], [status], { files })).toMatchObject({ exit: 0, out: "all is well\n" });
    expect((await run(["--help"], [status], { files })).out).toContain("Usage: remand");
  });

  test("lists each command under exactly one heading", async () => {
    const { out } = await run(["--help"], await Promise.all(COMMANDS.map(async ({ load }) => (await load()).command)));
    const headings = [...out.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Examples", "Options", ...COMMAND_GROUPS]);
    for (const { name } of COMMANDS) expect(out.match(new RegExp(`^  ${name} `, "gm"))).toHaveLength(1);
  });

  test.each([[["parse", "--help"]], [["help", "parse"]]])("%j shows the command's own options", async (argv) => {
    const withOption = fakeCommand(
      "parse",
      () => undefined,
      (command) => command.option("--role <role>", "whose text"),
    );
    const ran = await run(argv, [withOption, stories]);
    expect(ran.exit).toBe(0);
    expect(ran.out).toContain("whose text");
    expect(ran.out).toContain("--directory");
    expect(ran.loaded).toEqual(["parse"]);
  });
});

describe("a command", () => {
  test("is loaded alone", async () => {
    const ran = await run(["stories"], [parse, stories]);
    expect(ran).toEqual({ exit: 0, out: "told\n", err: "", loaded: ["stories"] });
  });

  test("decides the exit code", async () => {
    const rejecting: CliCommand = {
      name: "gate",
      register: (command, _world, done) => void command.action(() => done(3)),
    };
    expect((await run(["gate"], [rejecting])).exit).toBe(3);
  });

  test("without an exit code is reported as a bug of Remand", async () => {
    const forgetful: CliCommand = {
      name: "x",
      register: (command) => void command.action(() => undefined),
    };
    const ran = await run(["x"], [forgetful]);
    expect(ran.exit).toBe(1);
    expect(ran.err).toContain("a bug in Remand");
    expect(ran.err).toContain("without an exit code");
  });
});

describe("an error under --json", () => {
  const failing = fakeCommand("parse", () => {
    throw new RemandError("git-missing", "git is not installed", "Install git.");
  });

  test("is a document on the standard output, and a message for people", async () => {
    const ran = await run(["parse", "--json"], [failing]);
    expect(ran).toMatchObject({ exit: 1, err: "remand: git is not installed\n  Install git.\n" });
    expect(JSON.parse(ran.out)).toEqual({
      schema: "remand.error/1",
      error: { code: "git-missing", message: "git is not installed", hint: "Install git." },
      exit: 1,
    });
    expect((await run(["parse"], [failing])).out).toBe("");
  });

  test("includes errors of the command line", async () => {
    const ran = await run(["parse", "--json", "--nonsense"], [failing]);
    expect(JSON.parse(ran.out)).toMatchObject({
      error: { code: "usage", message: "unknown option '--nonsense'" },
      exit: 2,
    });
  });
});

describe("a wrong command line", () => {
  test("names the command that was meant", async () => {
    const ran = await run(["prase"], [parse, stories]);
    expect(ran.exit).toBe(2);
    expect(ran.out).toBe("");
    expect(ran.err).toContain("remand: unknown command 'prase'\n(Did you mean parse?)");
    expect(ran.err).toContain("remand --help");
    expect(ran.loaded).toEqual([]);
  });

  test("suggests help for a near miss, too", async () => {
    const ran = await run(["hlep"], [parse]);
    expect(ran.err).toContain("remand: unknown command 'hlep'\n(Did you mean help?)");
  });

  test("names the option that was meant, before the command and after it", async () => {
    for (const argv of [
      ["--jsno", "parse"],
      ["parse", "--jsno"],
    ]) {
      const ran = await run(argv, [parse]);
      expect(ran.exit).toBe(2);
      expect(ran.err).toContain("remand: unknown option '--jsno'\n(Did you mean --json?)");
      expect(ran.out).toBe("");
    }
  });

  test("with an argument too many is refused", async () => {
    const ran = await run(["stories", "extra"], [stories]);
    expect(ran.exit).toBe(2);
    expect(ran.err).toContain("too many arguments");
  });

  test("with options and no command is refused", async () => {
    expect((await run(["--quiet"], [parse])).exit).toBe(2);
  });
});

describe("global options", () => {
  const seen: { cwd: string; color: boolean; options: Record<string, unknown> }[] = [];
  const look = fakeCommand("look", (world, options) => {
    seen.push({ cwd: world.cwd, color: world.color, options: { ...options } });
    world.out("asked for\n");
    world.err("by the way\n");
  });
  const lookAt = async (argv: readonly string[], env: Record<string, string> = {}, terminal = false) => {
    const ran = await run(argv, [look], { env, terminal });
    expect(ran.err.replace("by the way\n", "")).toBe("");
    expect(ran.exit).toBe(0);
    return { ...ran, ...seen.at(-1)! };
  };

  test("-C changes the folder, on either side of the command", async () => {
    expect((await lookAt(["look"])).cwd).toBe("/work");
    expect((await lookAt(["-C", "there", "look"])).cwd).toBe("/work/there");
    expect((await lookAt(["look", "-C", "/work/there"])).cwd).toBe("/work/there");
  });

  describe("without -C", () => {
    const REPOSITORY = { "/home/.git/HEAD": "", "/home/shop/.git/HEAD": "", "/home/shop/remand.yaml": "" };
    const cwdOf = async (cwd: string, texts: Record<string, string>, argv = ["look"], command = look) => {
      await run(argv, [command], { cwd, files: memoryFiles(texts) });
      return seen.at(-1)!.cwd;
    };

    test("a folder inside of a project selects the project", async () => {
      expect(await cwdOf("/home/shop/src/deep", REPOSITORY)).toBe("/home/shop");
      expect(await cwdOf("/home/shop", REPOSITORY)).toBe("/home/shop");
      expect(
        await cwdOf("/home/shop/src", { "/home/shop/.git": "gitdir: x", "/home/shop/.remand/journal.db": "" }),
      ).toBe("/home/shop");
      expect(await cwdOf("/home/shop/app/src", { "/home/shop/.git/HEAD": "", "/home/shop/app/remand.yaml": "" })).toBe(
        "/home/shop/app",
      );
    });

    test("commands that need the config find it despite a loop's journal in a nearer folder", async () => {
      const texts = { ...REPOSITORY, "/home/shop/src/.remand/journal.db": "" };
      const gate = fakeCommand("gate", (world) => void seen.push({ cwd: world.cwd, color: false, options: {} }));
      expect(await cwdOf("/home/shop/src", texts, ["gate"], gate)).toBe("/home/shop");
      expect(await cwdOf("/home/shop/src", texts)).toBe("/home/shop/src");
    });

    test("no project is searched beyond the repository, or outside of a repository", async () => {
      expect(await cwdOf("/home/shop/src", { "/home/shop/.git/HEAD": "", "/home/remand.yaml": "" })).toBe(
        "/home/shop/src",
      );
      expect(await cwdOf("/home/shop/src", { "/home/remand.yaml": "" })).toBe("/home/shop/src");
    });

    test("named folders and configs win, and a loop works where it is started", async () => {
      const loop = fakeCommand("loop", (world) => void seen.push({ cwd: world.cwd, color: false, options: {} }));
      expect(await cwdOf("/home/shop/src", REPOSITORY, ["loop"], loop)).toBe("/home/shop/src");
      expect(await cwdOf("/home/shop/src", REPOSITORY, ["look", "--config", "mine.yaml"])).toBe("/home/shop/src");
    });
  });

  test("an unknown option points to the help of its command", async () => {
    const ran = await run(["look", "--nothing"], [look]);
    expect(ran.exit).toBe(2);
    expect(ran.err).toBe("remand: unknown option '--nothing'\n  Run remand look --help to see what it takes.\n");
  });

  test("-C refuses a missing folder", async () => {
    const ran = await run(["look", "-C", "nowhere"], [look]);
    expect(ran.exit).toBe(2);
    expect(ran.err).toBe("remand: there is no folder nowhere\n  Give -C a folder that exists.\n");
    expect(ran.out).toBe("");
  });

  test("--json and --config reach the command from either side, also where it declares them itself", async () => {
    const own = fakeCommand(
      "look",
      (_world, options) => void seen.push({ cwd: "", color: false, options: { ...options } }),
      (command) => command.option("--json", "its own words").option("--config <file>"),
    );
    for (const command of [look, own]) {
      for (const argv of [
        ["--json", "--config", "c.yaml", "look"],
        ["look", "--json", "--config", "c.yaml"],
      ]) {
        expect((await run(argv, [command])).exit).toBe(0);
        expect(seen.at(-1)!.options).toMatchObject({ json: true, config: "c.yaml" });
      }
      expect((await run(["--config", "a", "look", "--config", "b"], [command])).exit).toBe(0);
      expect(seen.at(-1)!.options).toEqual({ config: "b", input: true });
    }
  });

  test("--quiet prints results and no messages", async () => {
    expect(await lookAt(["look"])).toMatchObject({ out: "asked for\n", err: "by the way\n" });
    expect(await lookAt(["look", "--quiet"])).toMatchObject({ out: "asked for\n", err: "" });
  });

  test.each<[string[], Record<string, string>, boolean, boolean]>([
    [[], {}, true, true],
    [[], {}, false, false],
    [[], { NO_COLOR: "1" }, true, false],
    [[], { NO_COLOR: "" }, true, true],
    [[], { TERM: "dumb" }, true, false],
    [[], { FORCE_COLOR: "1" }, false, true],
    [[], { FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
    [[], { FORCE_COLOR: "0" }, true, false],
    [["--color"], { NO_COLOR: "1" }, false, true],
    [["--no-color"], { FORCE_COLOR: "1" }, true, false],
  ])("%j with %j on a terminal (%s) is colored: %s", async (flags, env, terminal, colored) => {
    expect((await lookAt(["look", ...flags], env, terminal)).color).toBe(colored);
    expect((await lookAt([...flags, "look"], env, terminal)).color).toBe(colored);
  });
});

describe("an error", () => {
  const failing = (error: unknown) =>
    fakeCommand("fail", () => {
      throw error;
    });

  test.each([
    ["usage", 2],
    ["config-invalid", 2],
    ["story-invalid", 2],
    ["input-invalid", 2],
    ["file-missing", 1],
    ["file-unreadable", 1],
    ["file-too-large", 1],
  ] as const)("of the environment (%s) says what happened and what to do, and ends with %i", async (code, exit) => {
    const ran = await run(["fail", "--quiet"], [failing(new RemandError(code, "it broke", "Fix it."))]);
    expect(ran).toMatchObject({ exit, out: "", err: "remand: it broke\n  Fix it.\n" });
  });

  test("of the environment shows its cause with --verbose", async () => {
    const error = new RemandError("usage", "it broke", "Fix it.", { cause: new Error("deeper") });
    expect((await run(["fail", "--verbose"], [failing(error)])).err).toMatch(/Fix it\.\n {2}Error: deeper\n {6}at /);
  });

  test("in Remand's own code is reported as a bug, without a stack", async () => {
    const ran = await run(["fail"], [failing(new TypeError("x is not a function"))]);
    expect(ran.exit).toBe(1);
    expect(ran.err).toContain("remand: this is a bug in Remand: TypeError: x is not a function\n");
    expect(ran.err).toContain("--verbose");
    expect(ran.err).not.toContain("    at ");
  });

  test.each([
    ["ENOSPC", "the disk is full", "Make room"],
    ["EROFS", "the disk is read-only", "Work in a copy"],
    ["EMFILE", "too many files are open", "ulimit -n"],
  ])("of the machine (%s) is not reported as a bug, and has a fix", async (code, fact, fix) => {
    const wrapped = new Error("it broke", { cause: Object.assign(new Error(`${code}: open`), { code }) });
    const ran = await run(["fail"], [failing(wrapped)]);
    expect(ran.exit).toBe(1);
    expect(ran.err).toContain(`remand: ${fact}`);
    expect(ran.err).toContain(fix);
    expect(ran.err).not.toContain("bug");
    expect(JSON.parse((await run(["fail", "--json"], [failing(wrapped)])).out)).toMatchObject({
      error: { code: "system" },
    });
  });

  test.each([
    [["fail", "--verbose"], {}],
    [["fail"], { REMAND_DEBUG: "1" }],
  ])("in Remand's own code shows its stack with %j %j", async (argv, env) => {
    const ran = await run(argv, [failing(new TypeError("x is not a function"))], { env });
    expect(ran.exit).toBe(1);
    expect(ran.err).toMatch(/\n {6}at /);
  });

  test("that is not an Error object is still reported", async () => {
    expect((await run(["fail"], [failing("just text")])).err).toContain("a bug in Remand: just text\n");
  });
});
