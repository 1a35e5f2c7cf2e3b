import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { killLeftovers, leftovers } from "../../../src/adapters/process/leftovers.ts";
import { processTable, variableOf } from "../../../src/adapters/process/process-table.ts";
import { runProcess, type ProcessControl, type ProcessSpec } from "../../../src/adapters/process/run-process.ts";

let folder: string;
const cookies: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "remand-process-"));
  writeFileSync(join(folder, "stubborn.sh"), STUBBORN);
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  // No test may leave a process behind.
  for (const cookie of cookies.splice(0)) {
    const left = await killLeftovers(cookie);
    if (left.length > 0) throw new Error(`still there: ${JSON.stringify(left)}`);
  }
});

function run(command: ProcessSpec["command"], spec: Partial<ProcessSpec> = {}, control?: ProcessControl) {
  const cookie = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  cookies.push(cookie);
  const env = { PATH: process.env["PATH"] ?? "" };
  return runProcess({ command, cwd: folder, env, timeoutMs: 15_000, cookie, sandbox: null, ...spec }, control);
}

const node = (script: string): readonly [string, ...string[]] => [process.execPath, "-e", script];
const exitOf = ({ status, exitCode, signal }: Awaited<ReturnType<typeof run>>) => ({ status, exitCode, signal });

/**
 * Starts a program that ignores signals, in its own session, without a parent, and that holds the output open. The
 * program runs, and has written its process id, when this command ends.
 */
const DETACHED = `setsid sh -c 'sh ./stubborn.sh &'; while [ ! -s stray.pid ]; do sleep 0.01; done`;
const STUBBORN = `trap "" INT TERM HUP; echo $$ > stray.pid; while :; do sleep 1; done`;

function isRunning(pidFile: string): boolean {
  const pid = Number(readFileSync(join(folder, pidFile), "utf8"));
  expect(pid).toBeGreaterThan(1);
  return existsSync(`/proc/${pid}/cwd`) && !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
}

describe("outcomes", () => {
  test("a program that succeeds", async () => {
    const result = await run(["sh", "-c", "echo out; echo err >&2"]);
    expect(result).toMatchObject({
      status: "exited",
      exitCode: 0,
      signal: null,
      failure: null,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
      survivorsEnded: 0,
    });
    expect(result.durationMs).toBeGreaterThan(0);
  });

  test.each([1, 2, 75, 127, 255])("exit code %i", async (code) => {
    expect(exitOf(await run(`exit ${code}`))).toEqual({ status: "exited", exitCode: code, signal: null });
  });

  test.each(["SIGTERM", "SIGKILL", "SIGSEGV"] as const)("a program that %s ended", async (signal) => {
    const result = await run(["sh", "-c", `kill -${signal.slice(3)} $$`]);
    expect(exitOf(result)).toEqual({ status: "exited", exitCode: null, signal });
  });

  test("a string is a shell command, a list is not", async () => {
    expect((await run("echo $((1 + 1)) | cat")).stdout).toBe("2\n");
    expect((await run(["echo", "$((1 + 1)) | cat", "; false"])).stdout).toBe("$((1 + 1)) | cat ; false\n");
  });

  test("a program sees only the given environment", async () => {
    process.env["REMAND_TEST_SECRET"] = "no";
    const { stdout } = await run("env", { env: { PATH: process.env["PATH"]!, GIVEN: "yes" } });
    delete process.env["REMAND_TEST_SECRET"];
    expect(stdout).toContain("GIVEN=yes");
    expect(stdout).not.toContain("REMAND_TEST_SECRET");
  });
});

describe("programs that do not start", () => {
  test("missing program", async () => {
    expect(await run(["no-such-program-here", "x"])).toMatchObject({
      status: "failed-to-start",
      exitCode: null,
      failure: { code: "ENOENT", message: "there is no program no-such-program-here" },
    });
  });

  test("missing folder", async () => {
    const cwd = join(folder, "missing");
    for (const command of ["true", ["true"]] as const) {
      expect((await run(command, { cwd })).failure?.message).toBe(`there is no folder ${cwd}`);
    }
  });

  test("a file in place of the folder", async () => {
    const cwd = join(folder, "file");
    writeFileSync(cwd, "");
    expect((await run(["true"], { cwd })).failure?.message).toBe(`${cwd} is not a folder`);
  });

  test("a file that is not executable", async () => {
    writeFileSync(join(folder, "plain"), "text", { mode: 0o644 });
    const { failure } = await run([join(folder, "plain")]);
    expect(failure).toMatchObject({ code: "EACCES", message: expect.stringContaining("permission denied") });
  });

  test("arguments that are too long, or contain a null character", async () => {
    expect((await run(["true", "x".repeat(4 * 1024 * 1024)])).failure?.message).toContain("too long");
    expect((await run(["true", "a\0b"])).status).toBe("failed-to-start");
  });
});

describe("output", () => {
  test("100 MB are capped: beginning and end are kept, with a note", async () => {
    const line = "0123456789".repeat(99) + "123456789\n";
    const script = `process.stdout.write("first\\n"); const l = ${JSON.stringify(line)}.repeat(1000);
      let n = 0; const next = () => { while (n < 100) { n++; if (!process.stdout.write(l)) return process.stdout.once("drain", next); } process.stdout.end("last\\n"); }; next();`;
    const before = process.memoryUsage().rss;
    const result = await run(node(script), { maxOutputBytes: 1024 * 1024 });
    expect(exitOf(result)).toEqual({ status: "exited", exitCode: 0, signal: null });
    expect(result.truncated).toBe(true);
    expect(result.stdout.startsWith("first\n0123")).toBe(true);
    expect(result.stdout.endsWith("last\n")).toBe(true);
    // Lines are kept or cut as a whole: half of one could be half of a secret.
    const [begin, cut, end] = result.stdout.split(/\n\[(\d+) bytes were cut here\]\n/);
    expect(100_000_011 - Number(cut)).toBe(`${begin}\n${end}`.length);
    expect(`${begin}\n`.endsWith(`\n${line}`)).toBe(true);
    expect(end!.startsWith(line)).toBe(true);
    expect(result.stdout.length).toBeLessThan(1024 * 1024 + 100);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  test("binary output does no harm", async () => {
    const result = await run(["head", "-c", "300000", "/dev/urandom"]);
    expect(exitOf(result)).toEqual({ status: "exited", exitCode: 0, signal: null });
    expect(result.stdout.length).toBeGreaterThan(100_000);
  });

  test("characters that arrive in halves are whole, in lines and in texts", async () => {
    const script = `const b = Buffer.from("grün €uro 🙂\\n"); let i = 0;
      const t = () => { if (i < b.length) { process.stdout.write(b.subarray(i, ++i)); process.stderr.write("·"); setTimeout(t, 1); } }; t();`;
    const lines: string[] = [];
    const result = await run(node(script), {}, { onLine: (line, stream) => stream === "stdout" && lines.push(line) });
    expect(lines).toEqual(["grün €uro 🙂"]);
    expect(result.stdout).toBe("grün €uro 🙂\n");
    expect(result.output).toContain("grün €uro 🙂\n");
    expect(result.output).not.toContain("\ufffd");
  });

  test("lines of both streams are interleaved whole and in order", async () => {
    const script = `printf one; sleep 0.1; echo two >&2; sleep 0.1; printf 'three\\nfour'`;
    const lines: string[] = [];
    const result = await run(script, {}, { onLine: (line, stream) => lines.push(`${stream} ${line}`) });
    expect(lines).toEqual(["stderr two", "stdout onethree", "stdout four"]);
    expect(result.output).toBe("two\nonethree\nfour");
    expect(result.stdout).toBe("onethree\nfour");
  });

  test("thousands of lines arrive one by one while the program runs", async () => {
    const lines: string[] = [];
    await run("seq 1 50000; printf 'a\\r\\n\\nend'", {}, { onLine: (line) => lines.push(line) });
    expect(lines).toHaveLength(50_003);
    expect(lines[41_999]).toBe("42000");
    expect(lines.slice(-3)).toEqual(["a", "", "end"]);
  });

  test("a very long line is passed on in pieces below the cap, between characters", async () => {
    const lines: string[] = [];
    const script = `process.stdout.write("é".repeat(500000))`;
    const result = await run(node(script), { maxOutputBytes: 10_001 }, { onLine: (line) => lines.push(line) });
    expect(lines.join("")).toBe("é".repeat(500_000));
    expect(result.truncated).toBe(true);
    expect(result.output).not.toContain("\ufffd");
  });
});

describe("input", () => {
  test("is read to its end", async () => {
    const text = "ünïcode\n".repeat(200_000);
    expect((await run(["cat"], { stdin: text })).stdout).toBe(text);
    expect((await run("wc -c", { stdin: "" })).stdout.trim()).toBe("0");
  });

  test("without input there is nothing to wait for", async () => {
    expect((await run("cat; echo done")).stdout).toBe("done\n");
  });

  test("10 MB go to a program that reads none of it", async () => {
    const stdin = "x".repeat(10 * 1024 * 1024);
    expect(exitOf(await run("exit 3", { stdin }))).toEqual({ status: "exited", exitCode: 3, signal: null });
    expect(exitOf(await run("exec <&-; sleep 0.2; exit 4", { stdin })).exitCode).toBe(4);
    const slow = await run("sleep 600", { stdin, timeoutMs: 300 });
    expect(slow.status).toBe("timeout");
  });
});

describe("time and cancellation", () => {
  test("a program that exits on the first signal", async () => {
    const result = await run("echo begun; sleep 600", { timeoutMs: 2000 });
    expect(exitOf(result)).toEqual({ status: "timeout", exitCode: null, signal: "SIGINT" });
    expect(result.stdout).toBe("begun\n");
    expect(result.durationMs).toBeGreaterThanOrEqual(1995);
  });

  test("a program may clean up on the first signal: its exit code and last output are kept", async () => {
    const script = `process.on("SIGINT", () => { console.log("saved"); setTimeout(() => process.exit(7), 50) }); console.log("up"); setInterval(() => {}, 1000)`;
    const result = await run(node(script), { timeoutMs: 3000, graceMs: 10_000 });
    expect(exitOf(result)).toEqual({ status: "timeout", exitCode: 7, signal: null });
    expect(result.stdout).toBe("up\nsaved\n");
  });

  test("each signal is sent in turn until the program exits", async () => {
    const deaf = await run(`trap "" INT; while :; do sleep 0.05; done`, { timeoutMs: 1500, graceMs: 300 });
    expect(exitOf(deaf)).toEqual({ status: "timeout", exitCode: null, signal: "SIGTERM" });
    const stubborn = await run(`trap "" INT TERM; while :; do sleep 0.05; done`, { timeoutMs: 1500, graceMs: 200 });
    expect(exitOf(stubborn)).toEqual({ status: "timeout", exitCode: null, signal: "SIGKILL" });
    expect(stubborn.durationMs).toBeGreaterThanOrEqual(1695);
  });

  test("cancelled half-way", async () => {
    const controller = new AbortController();
    const onLine = (line: string) => line === "ready" && controller.abort();
    const result = await run("echo ready; sleep 600", {}, { signal: controller.signal, onLine });
    expect(result.status).toBe("cancelled");
  });

  test("cancelled before the start: nothing is started", async () => {
    const result = await run("touch started", {}, { signal: AbortSignal.abort() });
    expect(result.status).toBe("cancelled");
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  test("a program that exits before it is cancelled counts as exited", async () => {
    const controller = new AbortController();
    const pending = run("exit 5", {}, { signal: controller.signal });
    expect((await pending).exitCode).toBe(5);
    controller.abort();
    expect((await pending).status).toBe("exited");
  });

  test("infinite and very long timeouts do not fire at once", async () => {
    for (const timeoutMs of [Infinity, 2 ** 31, 2 ** 40]) {
      expect((await run("sleep 0.1; echo late", { timeoutMs })).stdout).toBe("late\n");
    }
  });
});

describe("leftover processes", () => {
  test("a timeout ends a detached grandchild that ignores signals and holds the output open", async () => {
    const result = await run(`${DETACHED}; sleep 600`, { timeoutMs: 2000 });
    expect(result.status).toBe("timeout");
    expect(isRunning("stray.pid")).toBe(false);
  });

  test("a program that exits by itself leaves no process, and is not delayed", async () => {
    const result = await run(`${DETACHED}; echo done`);
    expect(exitOf(result)).toEqual({ status: "exited", exitCode: 0, signal: null });
    expect(result.stdout).toBe("done\n");
    expect(result.survivorsEnded).toBeGreaterThan(0);
    expect(isRunning("stray.pid")).toBe(false);
  });

  test("background children of the same group are ended", async () => {
    const result = await run("sleep 600 & sleep 600 & echo done");
    expect(result.stdout).toBe("done\n");
    expect(result.survivorsEnded).toBe(2);
  });

  test("a process that cleared its environment is found by its parent", async () => {
    const stray = (name: string): string => `/bin/sh -c 'echo $$ > ${name}.pid; exec /bin/sleep 60' &`;
    const result = await run(`env -i ${stray("a")} env -i setsid ${stray("b")} sleep 60`, { timeoutMs: 2000 });
    expect(result.status).toBe("timeout");
    expect(isRunning("a.pid")).toBe(false);
    expect(isRunning("b.pid")).toBe(false);
  });

  test("a process that cannot be found cannot hold the output open", async () => {
    const openPipes = (): number => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
    const before = openPipes();
    const script = `env -i setsid /bin/sh -c '/bin/sh -c "echo \\$\\$ > stray.pid; exec sleep 600" &'; while [ ! -s stray.pid ]; do sleep 0.01; done; echo done`;
    const result = await run(script);
    expect(result.stdout).toBe("done\n");
    expect(isRunning("stray.pid")).toBe(true);
    // It must not keep this process alive.
    await vi.waitFor(() => expect(openPipes()).toBe(before), 20_000);
    process.kill(Number(readFileSync(join(folder, "stray.pid"), "utf8")), "SIGKILL");
  });

  test("the last process of a pipe may print its last lines", async () => {
    const result = await run(["bash", "-c", "exec > >(sleep 0.05; cat); echo late"]);
    expect(result.stdout).toBe("late\n");
    expect(result.survivorsEnded).toBe(0);
  });

  test("a service may stay until it is ended by its cookie", async () => {
    const cookie = `service-${process.pid}`;
    const result = await run("setsid sleep 60 >/dev/null 2>&1 & echo up", { survivors: "spare", cookie });
    expect(result).toMatchObject({ stdout: "up\n", survivorsEnded: 0 });
    // It starts as `setsid sleep 60` and becomes the service a moment later.
    const found = await vi.waitFor(async () => {
      const left = await leftovers(cookie);
      expect(left.map(({ command }) => command)).toEqual(["sleep 60"]);
      return left;
    }, 20_000);
    expect(await killLeftovers(cookie)).toEqual(found);
    expect(await leftovers(cookie)).toEqual([]);
    expect(await killLeftovers(cookie)).toEqual([]);
  });

  test("leftovers of a nested run belong to both runs", async () => {
    const outer = `outer-${process.pid}`;
    const inner = `inner-${process.pid}-x`;
    process.env["REMAND_COOKIE"] = outer;
    try {
      await run("setsid sleep 60 >/dev/null 2>&1 &", { survivors: "spare", cookie: inner });
    } finally {
      delete process.env["REMAND_COOKIE"];
    }
    expect(await leftovers(inner.slice(0, -1))).toEqual([]);
    expect(await leftovers(inner)).toHaveLength(1);
    expect(await killLeftovers(outer)).toHaveLength(1);
    expect(await leftovers(inner)).toEqual([]);
  });

  test("a program that keeps starting others is ended", async () => {
    const script = `trap "" INT TERM; spawn() { setsid sh -c 'trap "" INT TERM; sleep 60' & }; while :; do spawn; sleep 0.02; done`;
    const result = await run(script, { timeoutMs: 1000, graceMs: 200 });
    expect(result.status).toBe("timeout");
  });

  test("many runs at once do not end each other", async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0 ? run("sleep 60 & sleep 60; echo no", { timeoutMs: 50 }) : run(`sleep 60 & sleep 0.2; echo ${i}`),
      ),
    );
    expect(results.map(({ status, stdout }) => `${status} ${stdout}`)).toEqual(
      results.map((_, i) => (i % 3 === 0 ? "timeout " : `exited ${i}\n`)),
    );
  });
});

describe("the process table", () => {
  test("has this process and its parent, and reads only whole variables", async () => {
    const table = (await processTable())!;
    expect(table.find(({ pid }) => pid === process.pid)?.parent).toBe(process.ppid);
    expect(variableOf(process.pid, "PATH")).toContain("/");
    expect(variableOf(process.pid, "ATH")).toBeNull();
    expect(variableOf(2 ** 30, "PATH")).toBeNull();
  });
});
