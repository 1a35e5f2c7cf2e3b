import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { makeRepository } from "../kit/git-repository.ts";
import { missingSandbox } from "../kit/sandbox.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const main = `${root}dist/main.js`;
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string };

function remand(
  args: readonly string[],
  input: string | Buffer = "",
  env: Record<string, string> = {},
): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    input,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    maxBuffer: 256 * 1024 * 1024,
  });
}

describe("the built program", () => {
  test("can be started by its name", () => {
    expect(statSync(main).mode & 0o111).toBe(0o111);
    expect(readFileSync(main, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test.each(["--version", "-V"])("%s prints the version and loads no library", (flag) => {
    // With NODE_DEBUG, Node prints every module that it loads; only main.js may be needed for the version.
    const ran = remand([flag], "", { NODE_DEBUG: "esm" });
    expect(ran.stdout).toBe(`${version}\n`);
    expect(ran.status).toBe(0);
    expect(ran.stderr).toContain("dist/main.js");
    expect(ran.stderr).not.toContain("dist/cli/");
    expect(ran.stderr).not.toContain("node_modules");
  });

  test("--version also works among other options", () => {
    expect(remand(["--quiet", "--version"])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--help names every command and loads none", () => {
    const ran = remand(["--help"], "", { NODE_DEBUG: "esm" });
    expect(ran.status).toBe(0);
    for (const { name } of COMMANDS) expect(ran.stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(ran.stderr).not.toContain("dist/cli/commands/");
    expect(ran.stderr).not.toContain("zod");
  });

  test("reports that the current folder was deleted", () => {
    const ran = spawnSync(
      "sh",
      ["-c", 'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" "$@"', process.execPath, main, "run"],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "" },
      },
    );
    expect(ran.status).toBe(1);
    expect(ran.stderr).toMatch(/^remand: the current folder does not exist any more\n {2}Go to a folder that exists/);
  });

  test.each([24, 40])("reports that only %i files may be open", (limit) => {
    const few = spawnSync("sh", ["-c", `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, main, "gate"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect(few.status).toBe(1);
    expect(few.stderr).toMatch(
      /^remand: too many files are open .*EMFILE.*\n {2}Raise the limit of open files \(ulimit/,
    );
  });

  test.skipIf(missingSandbox() !== null)("says so on a read-only disk", () => {
    const checkout = makeRepository({ "remand.yaml": "version: 1\npreset: goal\n", "check.sh": "exit 1\n" });
    onTestFinished(() => checkout.clear());
    const readOnly = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--chdir", checkout.root];
    const command = [process.execPath, main, "loop", "--goal", "g", "--check", "sh check.sh", "--", "true"];
    const ran = spawnSync("bwrap", [...readOnly, ...command], { encoding: "utf8", env: checkout.env });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toMatch(/the disk is read-only.*\n {2}Work in a copy on a disk that can be written to/);
  });

  test("starts with few open files, and loads no locale of the schema library", () => {
    const few = spawnSync("sh", ["-c", 'ulimit -n 64; exec "$0" "$@"', process.execPath, main, "config"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect(few).toMatchObject({ status: 0, stderr: "" });
    // A bundled file names each of its modules.
    const { stderr } = remand(["config"], "", { NODE_DEBUG: "esm" });
    const loaded = [...new Set(stderr.match(/[\w/.-]+\/dist\/[\w/.-]+\.js/g))].map((path) =>
      readFileSync(path, "utf8"),
    );
    expect(loaded.flatMap((text) => text.match(/locales\/[\w-]+\.js/g) ?? [])).toEqual(["locales/en.js"]);
    expect(loaded.length).toBeLessThan(70);
  });

  test("an unknown command exits with 2 and prints a suggestion on stderr", () => {
    const ran = remand(["storys"]);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain("remand: unknown command 'storys'\n(Did you mean stories?)");
  });

  test("a reader that stops reading ends it quietly", async () => {
    const child = spawn(process.execPath, [main, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const status = await new Promise((resolve) => child.on("close", resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test("an output that cannot be written is reported", () => {
    const ran = spawnSync("bash", ["-c", `"${process.execPath}" "${main}" --help > /dev/full`], { encoding: "utf8" });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("remand: cannot write the output: ENOSPC");
  });
});

describe("each command of the table", () => {
  test.each(COMMANDS)("$name has the name of its table entry", async ({ name, load }) => {
    expect((await load()).command.name).toBe(name);
  });

  test.each(COMMANDS)("$name --help shows an example and the global options", ({ name }) => {
    const ran = remand([name, "--help"]);
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(ran.stdout).toMatch(new RegExp(`^ +(\\$ )?remand ${name}\\b`, "m"));
    for (const option of ["--directory", "--config", "--json", "--quiet"]) expect(ran.stdout).toContain(option);
  });
});

describe("remand parse", () => {
  test("reads the standard input and answers in JSON", () => {
    const text = "All good.\n\nREVIEW_PASSED: checkout-retry\n";
    const ran = remand(["parse", "-", "--id", "checkout-retry", "--role", "critic", "--json"], text);
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toMatchObject({
      schema: "remand.reading/1",
      signal: "REVIEW_PASSED",
      result: "pass",
    });
    expect(ran.status).toBe(0);
  });

  test("reads 100 MB of binary standard input", () => {
    const ran = remand(
      ["parse", "-", "--json"],
      Buffer.alloc(100_000_000, Buffer.from([0x00, 0xff, 0xc3, 0x61, 0x80])),
    );
    expect(ran.status).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({ kind: "unknown", result: "unknown" });
  });
});
