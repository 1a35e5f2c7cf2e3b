import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ContainerOptions, createContainer } from "../../../src/adapters/sandbox/container.ts";
import { testSandbox } from "../../../src/adapters/sandbox/open-sandboxes.ts";
import { runProcess } from "../../../src/adapters/process/run-process.ts";
import type { PathRule } from "../../../src/adapters/sandbox/path-rules.ts";

/** A name such as `podman:image`, of an image with a shell, grep, setsid and git; without it, no container runs. */
const [engine, image] = (process.env["REMAND_TEST_CONTAINER"] ?? "").split(":") as [ContainerOptions["engine"], string];

let folder: string;
const at = (path: string): string => join(folder, path);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "remand-container-test-")));
  for (const name of ["project/.git", "project/.remand/worktrees/a", "project/.remand/store", "home", "packages"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("project/.remand/worktrees/a/.git"), "gitdir: elsewhere\n");
  writeFileSync(at("project/.remand/journal"), "secret\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const rules = (): readonly PathRule[] => [
  { path: at("home"), kind: "copy" },
  { path: "/dev/shm", kind: "empty" },
  { path: at("project"), kind: "read" },
  { path: at("project/.git"), kind: "copy" },
  { path: at("project/.remand"), kind: "hidden" },
  { path: at("project/.remand/store"), kind: "copy" },
  { path: at("packages"), kind: "read" },
  { path: "/run/user", kind: "hidden" },
];

const sandboxWith = (own: Partial<ContainerOptions>) =>
  createContainer({
    level: { kind: "container", held: [], allowed: [] },
    rules: rules(),
    isWithheld: (name) => name === "GH_TOKEN",
    network: "shared",
    namedTempKind: "read",
    top: at("project"),
    image: "tools",
    engine: "docker",
    ...own,
  });

const request = () => ({
  command: ["sh", "-c", "true"] as const,
  cwd: at("project/.remand/worktrees/a"),
  env: { PATH: "/bin", HOME: "/home/of-the-image", GH_TOKEN: "x", LANG: "C" },
  writes: [],
  copies: [],
});

/** Returns the mounts of the command line. */
function mountsOf(commandLine: readonly string[]): readonly string[] {
  return commandLine
    .filter((_, index) => ["--volume", "--tmpfs"].includes(commandLine[index - 1] ?? ""))
    .map((mount) => mount.replaceAll(folder, ""));
}

test.each(["docker", "podman"] as const)("%s gets only the files that the rules show", async (own) => {
  const { commandLine } = await sandboxWith({ engine: own }).open(request());
  const empty = own === "podman" ? ":notmpcopyup" : "";
  expect(mountsOf(commandLine)).toEqual([
    `/home${empty}`,
    "/packages:/packages:ro",
    "/project:/project:ro",
    `/project/.git:/project/.git:${own === "podman" ? "O" : "ro"}`,
    `/project/.remand${empty}`,
    `/project/.remand/store:/project/.remand/store:${own === "podman" ? "O" : "ro"}`,
    "/project/.remand/worktrees/a:/project/.remand/worktrees/a",
  ]);
  expect(commandLine.join(" ")).not.toContain("/run/user");
  const passed = commandLine.filter((_, index) => commandLine[index - 1] === "--env");
  expect(passed).toEqual(["HOME", "LANG"]);
});

describe.skipIf(image === undefined)("a real container (skipped without REMAND_TEST_CONTAINER)", () => {
  test("reports what the self-test confirmed", async () => {
    const make = (more: readonly PathRule[]) => sandboxWith({ engine, image, rules: more });
    expect(await testSandbox(make, at("tried"))).toEqual({ held: ["files", "processes"], problem: null });
  });

  test("runs a program in its checkout, without Remand's files", async () => {
    const sandbox = sandboxWith({ engine, image });
    const script = "echo made > made; cat ../../journal; echo x > ../../../planted; exit 7";
    const ended = await runProcess({ ...request(), command: ["sh", "-c", script], sandbox, timeoutMs: 60_000 });
    expect(ended).toMatchObject({ status: "exited", exitCode: 7 });
    expect(ended.output).not.toContain("secret");
    expect(readFileSync(at("project/.remand/worktrees/a/made"), "utf8")).toBe("made\n");
    expect(() => readFileSync(at("project/planted"))).toThrow("ENOENT");
  });
});
