import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeRepository } from "../../kit/git-repository.ts";
import { testInFull } from "../../sampled.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

function projectOf(files: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) {
  const repository = makeRepository({ "agent.sh": "echo x >> ../paid\necho right > answer.txt\n", ...files }, "off");
  onTestFinished(() => repository.clear());
  const env = { ...repository.env, ...more };
  const remand = (...argv: string[]) =>
    spawnSync(process.execPath, [MAIN, ...argv], { cwd: repository.root, encoding: "utf8", env });
  const isPaid = () => existsSync(join(repository.home, "paid"));
  return { ...repository, remand, isPaid };
}

const AGENT = ["--reporter", "default", "--", "sh", "agent.sh"];

test("a loop whose check cannot start, or passes already, starts no agent", () => {
  const { remand, isPaid, root } = projectOf({
    "answer.txt": "right\n",
    "package.json": '{ "scripts": { "tset": "node --test" } }\n',
  });
  const missing = remand("loop", "--goal", "do it", "--check", "nosuchcmd --fast", ...AGENT);
  expect(missing.status).toBe(2);
  expect(missing.stderr).toContain(
    "check nosuchcmd --fast: there is no program nosuchcmd\n  Install nosuchcmd, put its",
  );
  const script = remand("loop", "--goal", "do it", "--check", "npm test", ...AGENT);
  expect(script.status).toBe(2);
  expect(script.stderr).toContain('package.json has no script "test"\n  Did you mean "tset"?');
  const deep = remand("loop", "--goal", "do it", "--check", "sh check.sh", ...AGENT);
  expect(deep.status).toBe(2);
  expect(deep.stderr).toContain("check sh check.sh: there is no file check.sh");
  const green = remand("loop", "--goal", "do it", "--check", "grep -q right answer.txt", ...AGENT);
  expect(green.status).toBe(2);
  expect(green.stderr).toContain("the check passes already");
  expect(isPaid()).toBe(false);
  expect(existsSync(join(root, ".remand/journal.db"))).toBe(false);

  remand("loop", "--goal", "do it", "--check", "grep -q right answer.txt", "--force", ...AGENT);
  expect(isPaid()).toBe(true);
});

testInFull("a base that was green is not run again by the next command, and one that was red is", () => {
  const { remand, home, write } = projectOf({
    "answer.txt": "right\n",
    "check.sh": "echo x >> $COUNT; grep -q right answer.txt\n",
  });
  const count = () => (existsSync(join(home, "count")) ? readFileSync(join(home, "count"), "utf8").length / 2 : 0);
  const loop = () => remand("loop", "--goal", "do it", "--check", `COUNT=${home}/count sh check.sh`, ...AGENT);
  expect(loop().stderr).toContain("the check passes already");
  const green = count();
  expect(green).toBeGreaterThan(0);
  expect(loop().stderr).toContain("the check passes already");
  expect(count()).toBe(green);
  write("answer.txt", "wrong\n");
  loop();
  expect(count()).toBeGreaterThan(green);
});

test("a base that takes long is run beside the first attempt, and known before anything is judged", () => {
  const { remand, home } = projectOf({
    "answer.txt": "wrong\n",
    "check.sh": "sleep 2; grep -q right answer.txt\n",
    // The first attempt ends the engine, which started its supervisor, and with it the run of the base.
    "agent.sh":
      "test -f ../paid || { touch ../paid; kill -9 $(ps -o ppid= -p $PPID); sleep 9; }\necho right > answer.txt\n",
  });
  const check = ["--check", "sh check.sh", "--set", "gates.checks.baseWait=300ms"];
  const killed = remand("loop", "--goal", "do it", ...check, ...AGENT);
  expect(killed.signal).toBe("SIGKILL");
  expect(existsSync(join(home, "paid"))).toBe(true);
  const ran = remand("loop", "--goal", "do it", ...check, ...AGENT);
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  const log = remand("log", "--json").stdout;
  const types = [...log.matchAll(/"type": ?"([a-z.-]+)"/g)].map(([, type]) => type!);
  const order = types.filter((type) => /^(?:story.prepared|attempt.started|base.judged|gate.started)$/.test(type));
  const judged = ["base.judged", "gate.started"];
  // The agent outlived the engine: its attempt went on.
  expect(order.slice(0, 4)).toEqual(["story.prepared", "attempt.started", ...judged]);
});

test("a run whose check cannot start starts no agent, and doctor --run says the same", () => {
  const config = (command: string) => `version: 1
preset: goal
agents: { developer: { use: command, command: sh agent.sh } }
gates: { checks: { commands: ["${command}"] } }
`;
  const { remand, isPaid, root } = projectOf({
    "stories/one.md": "# One\n",
    "remand.yaml": config("nosuchcmd"),
    "check.sh": "exec nosuchcmd\n",
  });
  const ran = remand("run", "--reporter", "default");
  expect(ran.status).toBe(2);
  expect(ran.stderr).toContain("check nosuchcmd: there is no program nosuchcmd");
  const doctor = remand("doctor", "--run", "--json");
  expect(doctor.status).toBe(1);
  expect(JSON.parse(doctor.stdout).probes).toContainEqual({
    name: "check `nosuchcmd`",
    ok: false,
    detail: "there is no program nosuchcmd",
    fix: "Install nosuchcmd, put its folder on the PATH, or correct the command.",
  });

  // Only a run shows that a script starts what is not there.
  writeFileSync(join(root, "remand.yaml"), config("sh check.sh"));
  const deeper = remand("run", "--reporter", "default");
  expect(deeper.status, deeper.stdout + deeper.stderr).toBe(4);
  expect(deeper.stdout).toContain("it could not be started (exit code 127)");
  expect(isPaid()).toBe(false);
  expect(remand("doctor", "--run").stdout).toContain("problem  checks: `sh check.sh`: it could not be started");
});

testInFull("a withheld variable that decides is named with the setting that passes it", () => {
  const check =
    'echo x >> "$RUNS"; test "$TEST_DB_PASSWORD" = hunter22 || { echo "no login"; exit 1; }; grep -q right answer.txt';
  const { remand, isPaid, home, root } = projectOf(
    { "answer.txt": "wrong\n", "check.sh": `${check}\n` },
    { TEST_DB_PASSWORD: "hunter22", OTHER_TOKEN: "nothing" },
  );
  const runs = join(home, "runs");
  const loop = (...argv: string[]) => remand("loop", "--check", `RUNS=${runs} sh check.sh`, ...argv, ...AGENT);
  writeFileSync(join(root, "answer.txt"), "right\n");
  const asked = loop();
  expect(asked.status).toBe(2);
  expect(asked.stderr).toContain("The checks fail without TEST_DB_PASSWORD and pass with it");
  expect(asked.stderr).toContain("env: [TEST_DB_PASSWORD] in ~/.config/remand/config.yaml");
  expect(asked.stderr).not.toContain("hunter22");
  expect(isPaid()).toBe(false);
  const judged = remand("gate", "checks", "--set", `gates.checks.commands=[RUNS=${runs} sh check.sh]`);
  expect(judged.status).toBe(3);
  expect(judged.stderr).toContain(
    "withheld from the checks, because its name looks like a secret: TEST_DB_PASSWORD. If a check needs it: env: [TEST_DB_PASSWORD]",
  );

  mkdirSync(join(home, ".config/remand"), { recursive: true });
  writeFileSync(join(home, ".config/remand/config.yaml"), "env: [TEST_DB_PASSWORD]\n");
  writeFileSync(join(root, "answer.txt"), "wrong\n");
  writeFileSync(runs, "");
  const ran = loop();
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  // Red twice at the base, once more with what is still withheld, twice confirmed, and once after the attempt.
  const first = readFileSync(runs, "utf8").length;
  writeFileSync(join(root, "answer.txt"), "wrong\n");
  writeFileSync(runs, "");
  const again = loop("--new");
  expect(again.status, again.stdout + again.stderr).toBe(0);
  // That OTHER_TOKEN makes no difference is known by then.
  expect(readFileSync(runs, "utf8").length).toBeLessThan(first);
});

test("an interrupt ends the check that is tried before the agent starts", async () => {
  const mark = `600.${process.pid}`;
  const { root, home, env, isPaid } = projectOf({ "check.sh": `touch "$HOME/seen/started"\nsleep ${mark}\n` });
  mkdirSync(join(home, "seen"));
  const child = spawn(process.execPath, [MAIN, "loop", "--goal", "do it", "--check", "sh check.sh", ...AGENT], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  await vi.waitFor(() => expect(existsSync(join(home, "seen/started"))).toBe(true), { timeout: 60_000 });
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  const isRunning = (pid: string): boolean => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  };
  expect(readdirSync("/proc").filter(isRunning)).toEqual([]);
  expect(isPaid()).toBe(false);
});
