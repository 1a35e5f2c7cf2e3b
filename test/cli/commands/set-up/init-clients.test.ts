import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeFiles } from "../../../../src/adapters/files/node-files.ts";
import { command as init } from "../../../../src/cli/commands/set-up/init.ts";
import { run, type Ran } from "../../../kit/fake-environment.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "remand-init-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const remand = (...args: readonly string[]): Promise<Ran> =>
  run(["init", ...args], [init], { cwd: root, files: createNodeFiles() });

function put(path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const get = (path: string): string => readFileSync(join(root, path), "utf8");

/** A line of the output, whatever its spacing. */
const told = (word: string, path: string): unknown =>
  expect.stringMatching(new RegExp(`^${word} +${path.replaceAll(".", String.raw`\.`)}`, "m"));

/** Every file's bytes, every folder, every link. */
function everything(): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const held = entry.isFile() ? readFileSync(path).toString("hex") : entry.isDirectory() ? "folder" : "link";
      return [relative(root, path), `${held} ${(lstatSync(path).mode & 0o777).toString(8)}`];
    }),
  );
}

const CLIENTS = [
  ["--claude", ".claude/settings.json"],
  ["--codex", ".codex/hooks.json"],
] as const;

describe.each(CLIENTS)("remand init %s", (flag, hooksFile) => {
  it("installs the two hooks, and changes nothing the second time", async () => {
    expect(await remand(flag)).toMatchObject({ exit: 0, out: expect.stringContaining(`wrote  ${hooksFile}\n`) });
    const { hooks } = JSON.parse(get(hooksFile)) as { hooks: Record<string, { hooks: { command: string }[] }[]> };
    expect(Object.keys(hooks)).toEqual(["SessionStart", "Stop"]);
    expect(hooks["Stop"]![0]!.hooks[0]!.command).toContain("exec remand hook stop");
    const once = everything();
    const again = await remand(flag);
    expect(again.out.split("\n").filter((line) => line !== "" && !line.startsWith("unchanged"))).toEqual([]);
    expect(everything()).toEqual(once);
  });

  it("prints the plan and changes nothing", async () => {
    put(hooksFile, "{}");
    const before = everything();
    const ran = await remand(flag, "--dry-run");
    expect(ran.out).toContain(`would add to  ${hooksFile}\n`);
    expect(everything()).toEqual(before);
    const json = await remand(flag, "--dry-run", "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      schema: "remand.init/1",
      dryRun: true,
      files: expect.arrayContaining([{ path: hooksFile, did: "changed", why: "" }]),
    });
  });

  it("removes everything that it installed", async () => {
    put("src/main.ts", "1\n");
    const before = everything();
    await remand(flag);
    expect(Object.keys(everything()).length).toBeGreaterThan(Object.keys(before).length + 3);
    expect(await remand(flag, "--uninstall", "--dry-run")).toMatchObject({
      out: expect.stringContaining("would remove"),
    });
    expect(await remand(flag, "--uninstall")).toMatchObject({ exit: 0 });
    expect(everything()).toEqual(before);
    expect(await remand(flag, "--uninstall")).toMatchObject({ exit: 0, out: "nothing of it is here\n" });
  });

  it.each([
    ["no end of the last line", '{"model":"opus"}'],
    ["Windows line ends", '{\r\n    "model": "opus"\r\n}\r\n'],
    ["a byte order mark", '\uFEFF{ "model": "opus" }\n'],
    ["remarks and a comma at the end", '// mine\n{\n\t"model": "opus", // best\n\t/* more */\n}\n'],
    ["hooks of its own", '{ "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "lint" } ] } ] } }\n'],
    ["letters of many kinds", '{ "näme": "😀\u2028" }\n'],
    ["an empty object", "{}"],
    ["an empty object on two lines", "{\n}"],
    ["nothing but blanks", " \n\n"],
    ["no byte", ""],
  ])("restores every byte of a file with %s", async (_name, text) => {
    put(hooksFile, text);
    chmodSync(join(root, hooksFile), 0o640);
    const before = everything();
    expect(await remand(flag)).toMatchObject({ exit: 0, out: told("added to", hooksFile) });
    expect(get(hooksFile)).toContain("remand hook stop");
    expect(await remand(flag, "--uninstall")).toMatchObject({ out: told("restored", hooksFile) });
    expect(everything()).toEqual(before);
  });

  it("removes only its own part from a file that was changed since, and says so", async () => {
    put(hooksFile, '{\n  "model": "opus"\n}\n');
    await remand(flag);
    put(hooksFile, get(hooksFile).replace('"opus"', '"haiku"'));
    const ran = await remand(flag, "--uninstall");
    expect(ran.out).toContain(`${hooksFile}: it was changed since: only Remand's part was taken out\n`);
    expect(get(hooksFile)).toBe('{\n  "model": "haiku"\n}\n');
  });

  it("removes its part if the original was not recorded", async () => {
    put(hooksFile, '{ "model": "opus" }\n');
    await remand(flag);
    rmSync(join(root, ".remand"), { recursive: true });
    expect(await remand(flag, "--uninstall")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("there is no record here of how it was"),
    });
    expect(get(hooksFile)).toBe('{ "model": "opus" }\n');
  });

  it.each([
    ["broken JSON", '{ "model": }', ":1:12 cannot be edited safely: value expected"],
    ["a key twice", '{ "hooks": {},\n  "hooks": {} }', ':2:3 cannot be edited safely: the key "hooks" is there twice'],
    ["hooks that are a list", '{ "hooks": [] }', 'cannot be edited safely: "hooks" is not an object'],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "is not UTF-8"],
  ])("refuses %s, and changes nothing", async (_name, held, message) => {
    put(hooksFile, held);
    const before = everything();
    const ran = await remand(flag);
    expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining(message) });
    expect(ran.err).toContain(hooksFile);
    expect(everything()).toEqual(before);
  });

  it("refuses a read-only file, a folder with the file's name, and links that are broken or lead out of the project", async () => {
    put(hooksFile, "{}");
    chmodSync(join(root, hooksFile), 0o444);
    expect(await remand(flag)).toMatchObject({ exit: 2, err: expect.stringContaining(`${hooksFile} is read-only`) });
    expect(get(hooksFile)).toBe("{}");
    rmSync(join(root, hooksFile));
    mkdirSync(join(root, hooksFile));
    expect(await remand(flag)).toMatchObject({ exit: 2, err: expect.stringContaining("is a folder") });
    rmSync(join(root, hooksFile), { recursive: true });
    symlinkSync("nowhere.json", join(root, hooksFile));
    expect(await remand(flag)).toMatchObject({ exit: 2, err: expect.stringContaining("broken link") });
    rmSync(join(root, hooksFile));
    const outside = join(mkdtempSync(join(tmpdir(), "remand-shared-")), "shared.json");
    writeFileSync(outside, "{}");
    symlinkSync(outside, join(root, hooksFile));
    expect(await remand(flag)).toMatchObject({ exit: 2, err: expect.stringContaining("leads out of the project") });
    expect(readFileSync(outside, "utf8")).toBe("{}");
    rmSync(dirname(outside), { recursive: true });
  });

  it("follows a link inside the project, and keeps the link", async () => {
    put("config/hooks.json", "{}\n");
    mkdirSync(dirname(join(root, hooksFile)), { recursive: true });
    symlinkSync("../config/hooks.json", join(root, hooksFile));
    const before = everything();
    await remand(flag);
    expect(lstatSync(join(root, hooksFile)).isSymbolicLink()).toBe(true);
    expect(get("config/hooks.json")).toContain("remand hook stop");
    await remand(flag, "--uninstall");
    expect(everything()).toEqual(before);
  });
});

describe("remand init for clients", () => {
  it("adds the server, the skill and the commands to Claude Code's existing files", async () => {
    put(".mcp.json", '{ "mcpServers": { "mine": { "command": "x" } } }\n');
    put(".claude/skills/remand/SKILL.md", "my own\n");
    const before = everything();
    const ran = await remand("--claude");
    expect(ran.out).toContain(".claude/skills/remand/SKILL.md: there is one already that Remand did not write");
    expect(ran.err).toContain("without a remand.yaml the hook does nothing");
    expect(Object.keys((JSON.parse(get(".mcp.json")) as { mcpServers: object }).mcpServers)).toEqual([
      "mine",
      "remand",
    ]);
    expect(get(".claude/commands/remand-gate.md")).toContain("`gate`");
    await remand("--claude", "--uninstall");
    expect(everything()).toEqual(before);
  });

  it("says so where a setting keeps every hook from running", async () => {
    put(".claude/settings.json", '{ "disableAllHooks": true }');
    expect((await remand("--claude")).err).toContain("no hook runs yet: .claude/settings.json says disableAllHooks");
    put(".claude/settings.json", '{ "disableAllHooks": false }');
    expect((await remand("--claude")).err).not.toContain("no hook runs yet");
  });

  it("adds the server to Codex's existing config", async () => {
    put(".codex/config.toml", 'model = "gpt-5.5"');
    const before = everything();
    const ran = await remand("--codex");
    expect(ran.err).toContain("/hooks");
    expect(get(".codex/config.toml")).toMatch(
      /^model = "gpt-5\.5"\n\n\[mcp_servers\.remand\]\ncommand = "sh"\nargs = \["-c",/,
    );
    put(".codex/config.toml", `${get(".codex/config.toml")}\n[tui]\n`);
    const out = await remand("--codex", "--uninstall");
    expect(out.out).toContain(".codex/config.toml: it was changed since: only");
    expect(get(".codex/config.toml")).toBe('model = "gpt-5.5"\n\n[tui]\n');
    put(".codex/config.toml", 'model = "gpt-5.5"');
    expect(everything()).toEqual(before);
  });

  it("changes nothing if one of the files cannot be edited", async () => {
    put(".codex/config.toml", "mcp_servers = {}\n");
    const before = everything();
    expect(await remand("--codex")).toMatchObject({ exit: 2, err: expect.stringContaining("written as one value") });
    expect(everything()).toEqual(before);
  });

  it("keeps an edited skill, and folders with other files", async () => {
    await remand("--claude", "--codex");
    put(".claude/skills/remand/SKILL.md", "changed\n");
    put(".claude/agents/mine.md", "mine\n");
    const ran = await remand("--claude", "--codex", "--uninstall");
    expect(ran.out).toContain(".claude/skills/remand/SKILL.md: it was changed since, so it is yours");
    expect(Object.keys(everything()).filter((path) => existsSync(join(root, path)) && path.endsWith(".md"))).toEqual(
      expect.arrayContaining([".claude/agents/mine.md", ".claude/skills/remand/SKILL.md"]),
    );
    expect(existsSync(join(root, ".codex"))).toBe(false);
    expect(existsSync(join(root, ".agents"))).toBe(false);
  });

  it("updates a file that it wrote itself", async () => {
    await remand("--claude");
    const record = JSON.parse(get(".remand/installed.json")) as { files: { path: string; after: string }[] };
    const skill = record.files.find(({ path }) => path.endsWith("SKILL.md"))!;
    put(".claude/skills/remand/SKILL.md", "");
    skill.after = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    put(".remand/installed.json", JSON.stringify(record));
    expect(await remand("--claude")).toMatchObject({
      out: told("added to", ".claude/skills/remand/SKILL.md"),
    });
    expect(get(".claude/skills/remand/SKILL.md")).toContain("Working with Remand");
  });

  it("restores missing parts, and still knows the original", async () => {
    put(".claude/settings.json", '{\n  "a": 1\n}\n');
    const before = everything();
    await remand("--claude");
    const file = JSON.parse(get(".claude/settings.json")) as { a: number; hooks: Record<string, unknown> };
    expect(file.a).toBe(1);
    rmSync(join(root, ".mcp.json"));
    expect(await remand("--claude")).toMatchObject({ out: told("wrote", ".mcp.json") });
    await remand("--claude", "--uninstall");
    expect(everything()).toEqual(before);
  });

  it("also writes the config if a preset is named, and keeps it when the client's part is removed", async () => {
    expect(await remand("--preset", "goal", "--claude")).toMatchObject({ exit: 0 });
    expect(existsSync(join(root, "remand.yaml"))).toBe(true);
    await remand("--claude", "--uninstall");
    expect(readdirSync(root).toSorted()).toEqual([".remand", "remand.yaml", "stories"]);
    expect(await remand("--preset", "goal", "--claude", "--uninstall")).toMatchObject({ exit: 2 });
    expect(await remand("--uninstall")).toMatchObject({ exit: 2, err: expect.stringContaining("Add --claude") });
    expect(await remand("--dry-run")).toMatchObject({ exit: 2 });
  });

  it("copies the default roles, leaves those that are there, and removes those that were not changed", async () => {
    put(".claude/agents/critic.md", "mine\n");
    const before = everything();
    const ran = await remand("--roles");
    expect(ran).toMatchObject({ exit: 0, out: told("left", ".claude/agents/critic.md") });
    expect(ran.err).not.toContain("remand.yaml");
    expect(get(".claude/agents/critic.md")).toBe("mine\n");
    expect(get(".claude/agents/tdd-pair.md")).toMatch(/^---\nname: tdd-pair\n/);
    put(".claude/agents/auditor.md", "changed\n");
    await remand("--roles", "--uninstall");
    expect(get(".claude/agents/auditor.md")).toBe("changed\n");
    rmSync(join(root, ".claude/agents/auditor.md"));
    expect(everything()).toEqual(before);
  });

  it("works with a damaged record", async () => {
    put(".claude/settings.json", "{ }");
    await remand("--claude");
    for (const spoilt of ["{", "[]", '{ "files": [{ "path": 1 }], "folders": [2] }']) {
      put(".remand/installed.json", spoilt);
      expect(await remand("--claude", "--uninstall", "--dry-run")).toMatchObject({ exit: 0 });
    }
    await remand("--claude", "--uninstall");
    expect(JSON.parse(get(".claude/settings.json"))).toEqual({});
  });
});
