import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lineIn } from "../../../src/gates/checks/environments.ts";
import { treeId } from "../../../src/core/events/ids.ts";
import { gateRequest } from "../../contract/gate.ts";
import { checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
const read = (name: string): string => readFileSync(join(bench.folder(), name), "utf8");
function script(name: string, text: string): string {
  const path = join(bench.folder(), name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("set-up", () => {
  const setup = "echo set >> setups";

  test("runs once per tree and environment, inside of it, before the first check", async () => {
    const environments = { one: { run: "env WHERE=one", setup: 'echo "$WHERE" >> setups' }, two: { setup } };
    const judgement = await bench.judge(["test -f setups", "echo again"], { environments });
    expect(judgement.result).toBe("pass");
    expect(read("setups")).toBe("one\nset\n");
  });

  test("is not repeated when the tree is judged again, and runs for another tree", async () => {
    const gate = bench.gate(["true"], { environments: { one: { setup, probe: "echo probed >> probes" } } });
    const control = { signal: new AbortController().signal, onOutput: () => undefined };
    const judge = (tree: string) => gate.run(gateRequest({ path: bench.folder(), tree: treeId(tree) }), control);
    for (const tree of ["a", "a", "b", "a", ""]) expect((await judge(tree)).result).toBe("pass");
    expect(read("setups")).toBe("set\n".repeat(4));
    expect(read("probes")).toBe("probed\n".repeat(5));
    // Without a tree's name, it may be another tree each time.
    await judge("");
    expect(read("setups")).toBe("set\n".repeat(5));
  });

  test("that fails blocks, with the reason and its output; no check runs in that environment", async () => {
    const environments = { one: { setup: "echo no network; exit 3" } };
    const judgement = await bench.judge(["touch ran"], { environments });
    expect(judgement).toMatchObject({ result: "blocked", findings: [], blocking: [] });
    expect(judgement.summary).toBe(
      "checks: blocked (touch ran in one: the environment could not be set up: `echo no network; exit 3` says exit code 3: no network)",
    );
    expect(judgement.evidence).toHaveLength(1);
    expect(existsSync(join(bench.folder(), "ran"))).toBe(false);
  });

  test("is not tried if the probe fails", async () => {
    const environments = { one: { probe: "exit 1", setup } };
    expect(await bench.judge(["true"], { environments })).toMatchObject({ result: "blocked" });
    expect(existsSync(join(bench.folder(), "setups"))).toBe(false);
  });

  test("of one environment does not delay another", async () => {
    const environments = { bad: { setup: "exit 1" }, good: { setup: "true" } };
    const judgement = await bench.judge(["true"], { environments });
    expect(judgement.runs?.map(({ environment, result }) => [environment, result])).toEqual([
      ["bad", "blocked"],
      ["good", "pass"],
    ]);
  });
});

describe("wrappers", () => {
  const HARD = `test "$A" = "it's  two" && printf '%s' "$A|$(echo x; echo y | cat)" > out`;

  test("a script that runs what it is given", async () => {
    const wrapper = script("wrap.sh", `A="it's  two"; export A; exec "$@"`);
    expect(await bench.judge([HARD], { environments: { wrapped: { run: wrapper } } })).toMatchObject({
      result: "pass",
    });
    expect(read("out")).toBe("it's  two|x\ny");
  });

  test("npx with another version of Node, tested with a stand-in for npx", async () => {
    mkdirSync(join(bench.folder(), "bin"));
    script("bin/npx", `[ "$*" = "$1 -p node@24 -- $5 $6 $7" ] || echo "odd: $*" >&2\nshift 4; A="it's  two" exec "$@"`);
    const env = { PATH: `${join(bench.folder(), "bin")}:${process.env["PATH"]}` };
    const environments = { node24: { run: "npx -y -p node@24 --" } };
    expect(await bench.judge([HARD, "test -n x"], { environments, env })).toMatchObject({ result: "pass" });
  });

  test("ssh, tested with a stand-in that joins its words as ssh does", async () => {
    mkdirSync(join(bench.folder(), "bin"));
    // ssh joins its arguments with spaces, and a shell on the other side reads the line.
    script("bin/ssh", `shift; A="it's  two" exec sh -c "$*"`);
    const env = { PATH: `${join(bench.folder(), "bin")}:${process.env["PATH"]}` };
    const environments = { remote: { run: "ssh build@example.com" } };
    expect(await bench.judge([HARD, "test -n x"], { environments, env })).toMatchObject({ result: "pass" });
    const below = { remote: { run: `ssh build@example.com mkdir -p deep '&&' cd deep '&&'` } };
    expect(await bench.judge(["pwd | grep deep && test -n x"], { environments: below, env })).toMatchObject({
      result: "pass",
    });
  });

  test.each([
    [undefined, "a && b", "a && b"],
    ["  ", "a && b", "a && b"],
    ["docker run --rm img", "npm test", "docker run --rm img npm test"],
    ["docker run --rm img", "a && b", "docker run --rm img sh -c 'a && b'"],
    ["docker run --rm img", "A=1 b", "docker run --rm img sh -c 'A=1 b'"],
    ["ssh host", "npm test", "ssh host 'npm test'"],
    ["/usr/bin/ssh -p 22 host", "echo 'a'", `/usr/bin/ssh -p 22 host 'echo '\\''a'\\'''`],
    ["./sshfs-run", "a b", "./sshfs-run a b"],
  ])("%s in front of %s", (run, command, line) => {
    expect(lineIn(run === undefined ? {} : { run }, command)).toBe(line);
  });
});

describe("several at once", () => {
  /** Waits until the other one has started: it ends only if both run at the same time. */
  const meet = (own: string, other: string): string =>
    `touch ${own}; for i in $(seq 100); do test -f ${other} && break; sleep 0.05; done; test -f ${other} && echo ${own} met`;

  test("run side by side with labeled lines, and results keep their order", async () => {
    const judgement = await bench.judge(
      [
        { name: "a", run: meet("one", "two") },
        { name: "b", run: `${meet("two", "one")}; exit 1` },
        { name: "c", run: "echo last" },
      ],
      { parallel: 2 },
    );
    expect(judgement.runs?.map(({ check, result }) => [check, result])).toEqual([
      ["a", "pass"],
      ["b", "fail"],
      ["c", "pass"],
    ]);
    expect([...bench.lines].sort()).toEqual(["[a] one met", "[b] two met", "[c] last"]);
  });

  test("set up an environment once, and first", async () => {
    const environments = { one: { setup: "sleep 0.2; echo x >> setups" } };
    expect(await bench.judge(["test -f setups", "test -f  setups"], { environments, parallel: 2 })).toMatchObject({
      result: "pass",
    });
    expect(read("setups")).toBe("x\n");
  });

  test("run one after the other by default, with unlabeled lines", async () => {
    expect(await bench.judge(["echo a; touch first", "test -f first"])).toMatchObject({ result: "pass" });
    expect(bench.lines).toEqual(["a"]);
  });
});

describe("a wrapped environment", () => {
  const clean = { workedIn: "/somewhere/else" };

  test("gets the folder of the checkout for {checkout}", async () => {
    const docker = script("docker", 'test "$2" = "$PWD:/app" || exit 9; shift 2; exec "$@"');
    const environments = { box: { run: `${docker} -v {checkout}:/app` } };
    const judgement = await bench.judge(["echo ran"], { environments }, clean);
    expect(judgement).toMatchObject({ result: "pass" });
    expect(judgement.summary).not.toContain("not verified");
    expect(bench.lines).toEqual(["ran"]);
    expect(readdirSync(bench.folder())).toEqual(["docker"]);
  });

  test("that has its own files passes with a note", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "remand-elsewhere-"));
    try {
      const docker = script("docker", `cd ${elsewhere} && exec "$@"`);
      const judgement = await bench.judge(["echo ran"], { environments: { box: { run: docker } } }, clean);
      expect(judgement).toMatchObject({
        result: "pass",
        notes: ["checkout not verified: the environment box does not see the files of the clean checkout"],
      });
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
});

describe("a reset of shared state", () => {
  test("runs before each run, inside the environment, and checks run one at a time", async () => {
    const reset = "rm -f rows; echo reset >> resets";
    const commands = ["test ! -f rows && touch rows", "test ! -f  rows && touch rows"];
    expect(await bench.judge(commands, { reset, parallel: 2 })).toMatchObject({ result: "pass" });
    expect(read("resets")).toBe("reset\n".repeat(2));
  });

  test("that fails blocks, and the check does not run", async () => {
    const judgement = await bench.judge(["touch ran"], { reset: "exit 4" });
    expect(judgement).toMatchObject({ result: "blocked" });
    expect(judgement.runs?.[0]?.details).toBe("what checks share could not be reset: `exit 4` says exit code 4");
    expect(existsSync(join(bench.folder(), "ran"))).toBe(false);
  });
});
