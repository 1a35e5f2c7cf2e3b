import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeFiles, isFolder, readAll } from "../../../src/adapters/files/node-files.ts";
import { RemandError, type ErrorCode } from "../../../src/core/events/error.ts";

const files = createNodeFiles();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

async function errorOf(work: Promise<unknown>): Promise<{ code: ErrorCode; message: string; hint: string }> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemandError);
  return error as RemandError;
}

describe("read", () => {
  test("returns the text unchanged, including byte order mark and line ends", async () => {
    writeFileSync(at("a.md"), "\ufeffline\r\nüñ€😀");
    expect(await files.read(at("a.md"))).toBe("\ufeffline\r\nüñ€😀");
  });

  test("returns null for a missing file or folder", async () => {
    writeFileSync(at("plain"), "");
    expect(await files.read(at("none"))).toBeNull();
    expect(await files.read(at("none/deeper"))).toBeNull();
    expect(await files.read(at("plain/deeper"))).toBeNull();
  });

  test("returns invalid UTF-8 as replacement characters", async () => {
    writeFileSync(at("binary"), Buffer.from([0x61, 0xff, 0x00, 0x62]));
    expect(await files.read(at("binary"))).toBe("a\ufffd\u0000b");
  });

  test("does not split a character at the edge of two chunks", async () => {
    const text = `x${"€".repeat(100_000)}`;
    writeFileSync(at("long"), text);
    expect(await files.read(at("long"))).toBe(text);
  });

  test("reports that a path is a folder", async () => {
    const error = await errorOf(files.read(folder));
    expect(error.code).toBe("file-unreadable");
    expect(error.message).toBe(`cannot read ${folder}: it is a folder`);
  });

  test("reports a cycle of links", async () => {
    symlinkSync(at("b"), at("a"));
    symlinkSync(at("a"), at("b"));
    expect((await errorOf(files.read(at("a")))).message).toContain("its links lead in a circle");
  });

  test("reports an impossible path", async () => {
    expect((await errorOf(files.read("/a\0b"))).message).toContain("null character");
    expect((await errorOf(files.read(at("x".repeat(5000))))).message).toContain("too long");
  });

  test.skipIf(process.getuid?.() === 0)("reports a missing permission", async () => {
    writeFileSync(at("secret"), "x", { mode: 0 });
    expect((await errorOf(files.read(at("secret")))).message).toContain("permission denied");
  });

  test("rejects a file that is too large, even if its size is unknown beforehand", async () => {
    const small = createNodeFiles(10);
    writeFileSync(at("ten"), "0123456789");
    writeFileSync(at("eleven"), "0123456789x");
    expect(await small.read(at("ten"))).toBe("0123456789");
    expect(await errorOf(small.read(at("eleven")))).toMatchObject({ code: "file-too-large" });
    expect(await errorOf(small.read("/dev/zero"))).toMatchObject({ code: "file-too-large" });
  });
});

describe("list", () => {
  test("returns plain files with the extension, sorted, including links to files", async () => {
    for (const name of ["b.md", "a.md", "c.txt", "B.md"]) writeFileSync(at(name), "");
    mkdirSync(at("folder.md"));
    symlinkSync(at("a.md"), at("link.md"));
    symlinkSync(at("nowhere"), at("broken.md"));
    symlinkSync(at("folder.md"), at("linked-folder.md"));
    expect(await files.list(folder, ".md")).toEqual(["B.md", "a.md", "b.md", "link.md"].map(at));
  });

  test("returns nothing for a missing folder, and an error for a file", async () => {
    writeFileSync(at("plain"), "");
    expect(await files.list(at("none"), ".md")).toEqual([]);
    expect((await errorOf(files.list(at("plain"), ".md"))).message).toContain("cannot list");
  });

  test("skips a pipe", async () => {
    execFileSync("mkfifo", [at("pipe.md")]);
    expect(await files.list(folder, ".md")).toEqual([]);
  });
});

describe("write", () => {
  test("creates missing folders, and leaves no temporary files", async () => {
    await files.write(at("deep/er/a.md"), "text\r\n");
    expect(readFileSync(at("deep/er/a.md"), "utf8")).toBe("text\r\n");
    expect(readdirSync(at("deep/er"))).toEqual(["a.md"]);
  });

  test("keeps permissions and links", async () => {
    writeFileSync(at("real.md"), "old");
    chmodSync(at("real.md"), 0o600);
    symlinkSync(at("real.md"), at("link.md"));
    await files.write(at("link.md"), "new");
    expect(readFileSync(at("real.md"), "utf8")).toBe("new");
    expect(lstatSync(at("link.md")).isSymbolicLink()).toBe(true);
    expect(statSync(at("real.md")).mode & 0o777).toBe(0o600);
  });

  test("reports why it failed, and leaves no temporary files", async () => {
    mkdirSync(at("taken"));
    expect((await errorOf(files.write(at("taken"), "x"))).message).toBe(`cannot write ${at("taken")}: it is a folder`);
    writeFileSync(at("plain"), "x");
    expect((await errorOf(files.write(at("plain/deeper"), "x"))).message).toContain("cannot write");
    expect(readdirSync(folder).sort()).toEqual(["plain", "taken"]);
  });
});

test("a stream is read completely, as text or as bytes", async () => {
  const euro = Buffer.from("€");
  expect(await readAll(Readable.from([euro.subarray(0, 1), euro.subarray(1)]), "it")).toBe("€");
  expect(await readAll(Readable.from(["a", "b"]), "it")).toBe("ab");
  expect((await errorOf(readAll(Readable.from(["abc"]), "the input", 2))).message).toBe(
    "the input is larger than 2 bytes",
  );
});

test("a folder, a file and a missing path are distinguished", async () => {
  writeFileSync(at("plain"), "");
  expect(await Promise.all([folder, at("plain"), at("none")].map(isFolder))).toEqual([true, false, false]);
});
