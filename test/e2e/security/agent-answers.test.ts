import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEST_TOKEN } from "../../kit/test-token.ts";
import { makeRepository, write } from "../../kit/git-repository.ts";
import { missingSandbox } from "../../kit/sandbox.ts";
import { checkoutOf } from "../checkout.ts";
import { DISGUISES, isPossible } from "./disguises.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const REMAND = `"${process.execPath}" "${MAIN}"`;
// What identification stops by itself: in a sandbox most of these processes cannot be started, or end with the agent.
process.env["REMAND_SANDBOX"] = "off";
const STORY = '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nSay it.\n';

/** A project whose agent runs `script`, in its worktree, with `$root` the checkout. It asks for the token. */
const projectFiles = (script: string): Record<string, string> => ({
  "answer.txt": "wrong\n",
  "agent.sh": `echo tried >> answer.txt\nroot=$(cd ../../.. && pwd)\n${script}\n`,
  "stories/say-it.md": STORY,
  "remand.yaml": [
    "version: 1",
    "preset: goal",
    "env: [REMAND_TOKEN]",
    "agents: { developer: { use: command, command: sh agent.sh, env: [REMAND_TOKEN] } }",
    "gates: { checks: { commands: [grep -q right answer.txt] } }",
    "limits: { iterations: 1 }",
    "",
  ].join("\n"),
});

type Variables = Readonly<Record<string, string | undefined>>;

const UNIDENTIFIED: Variables = { REMAND_TOKEN: undefined };

function remand(root: string, args: readonly string[], env: Variables = {}) {
  return spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8", env: { ...process.env, ...env } });
}

const run = (root: string, env: Variables = {}) => remand(root, ["run", "--reporter", "minimal"], env);

const FORCE = "answer say-it force-complete --message done --by Ada";

function statusOf(root: string): string | undefined {
  const { stdout } = remand(root, ["status", "--json"]);
  return (JSON.parse(stdout) as { stories: { id: string; status: string }[] }).stories.find(({ id }) => id === "say-it")
    ?.status;
}

async function textOf(file: string, isWhole: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (isWhole(text)) return text;
    await sleep(50);
  }
}

const POSSIBLE = DISGUISES.filter(isPossible);
const REFUSED =
  /An engine started this process, so it cannot speak for a person|only claims to be one|The token is wrong/g;

/** What an agent says for a person, whatever it is disguised as. */
const SAYS = [
  FORCE,
  "answer say-it waive --gate checks --message done --by Ada",
  "answer say-it raise-budget --budget cost --limit 50 --by Ada",
  "token rotate",
];

describe("an agent that answers for a person while the engine works is refused", () => {
  let folder: string;
  let root: string;
  const noteOf = (i: number): string => join(folder, `said-${i}`);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "remand-disguises-"));
    const says = SAYS.map((words) => `${REMAND} ${words} >> "$1" 2>&1; echo "exit $?" >> "$1"`);
    writeFileSync(join(folder, "says.sh"), `cd "$(cat ${folder}/root)"\n${says.join("\n")}\n`);
    const ways = POSSIBLE.map(({ script }, i) => `A=${folder}/says.sh; O=${noteOf(i)}\n(${script})`);
    writeFileSync(join(folder, "ways.sh"), `${ways.join("\n")}\nwhile [ ! -e ${folder}/seen ]; do sleep 0.1; done\n`);
    // From its first process on, the environment is empty: the marks in it help no one.
    const direct = `pwd -P > /dev/null; echo "$root" > ${folder}/root; sh ${folder}/says.sh ${folder}/direct`;
    const pause = `(cd "$root" && ${REMAND} stop say-it --by Ada > ${folder}/pause 2>&1)`;
    const all = `exec env -i PATH="$PATH" HOME="$HOME" sh ${folder}/ways.sh`;
    root = makeRepository(projectFiles(`env > ${folder}/env\n${direct}\n${pause}\n${all}`)).root;
    const engine = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, stdio: "ignore" });
    const ended = new Promise((resolve) => engine.once("exit", resolve));
    for (const i of POSSIBLE.keys()) await textOf(noteOf(i), (text) => text.split("exit ").length > SAYS.length);
    writeFileSync(join(folder, "seen"), "");
    await ended;
  }, 240_000);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(root, { recursive: true, force: true });
  });

  const expectRefused = (text: string): void => {
    expect(text.match(REFUSED), text).toHaveLength(SAYS.length);
    expect(text).not.toContain("exit 0");
  };

  test("directly, and by a pause", () => {
    expectRefused(readFileSync(join(folder, "direct"), "utf8"));
    expect(readFileSync(join(folder, "pause"), "utf8")).toContain("An engine started this process");
  });

  test.for(DISGUISES)("$how", (disguise, { skip }) => {
    const i = POSSIBLE.indexOf(disguise);
    if (i === -1) skip(`not possible here: ${disguise.needs}`);
    expectRefused(readFileSync(noteOf(i), "utf8"));
  });

  test("and nothing that it said is in the journal", () => {
    expect(statusOf(root)).toBe("escalated");
    expect(remand(root, ["log"]).stdout).not.toContain("Ada");
  });

  test("it never sees the token, not even where the project's settings name it", () => {
    expect(readFileSync(join(folder, "env"), "utf8")).toContain("PATH=");
    expect(readFileSync(join(folder, "env"), "utf8")).not.toContain(TEST_TOKEN);
  });
});

/** Starts a dashboard, says in it what `FORCE` says, and prints what came back. */
const DASHBOARD = `
const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["${MAIN}", "serve", "--port", "0", "--by", "Ada", "--json"]);
let text = "";
child.stdout.on("data", async (chunk) => {
  text += chunk;
  if (!text.endsWith("}\\n")) return;
  const { port, token } = JSON.parse(text);
  const response = await fetch("http://127.0.0.1:" + port + "/api/answers", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer " + token },
    body: JSON.stringify({ about: "say-it", verb: "force-complete", message: "done" }),
  });
  console.log(JSON.stringify({ status: response.status, ...(await response.json()) }));
  child.kill();
});`.trim();

const dashboardAnswer = (root: string, env: Variables): string =>
  spawnSync(process.execPath, ["-e", DASHBOARD], { cwd: root, encoding: "utf8", env: { ...process.env, ...env } })
    .stdout;

test("a dashboard is worth what the process is that started it", { timeout: 60_000 }, async () => {
  const root = checkoutOf(projectFiles(`cd "$root"; "${process.execPath}" -e '${DASHBOARD}' > said; echo end >> said`));
  run(root);
  expect(await textOf(join(root, "said"), (text) => text.includes("end"))).toMatch(
    /"status":403.*An engine started this process/,
  );
  expect(dashboardAnswer(root, UNIDENTIFIED)).toMatch(/"status":403.*only claims to be one/);
  expect(statusOf(root)).toBe("escalated");
  expect(dashboardAnswer(root, {})).toContain('"status":200');
  expect(remand(root, ["log"]).stdout).toContain("Ada (dashboard)");
});

test("a process that an agent left waiting for the engine's end is refused too", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "remand-left-"));
  writeFileSync(
    join(folder, "wait.py"),
    `import os, pty, time
while not os.path.exists("${folder}/over"): time.sleep(0.1)
pty.spawn(["sh", "-c", 'cd "$(cat ${folder}/root)" && ${REMAND} ${FORCE} > ${folder}/said 2>&1; echo "exit $?" >> ${folder}/said'])
`,
  );
  const root = checkoutOf(
    projectFiles(
      `echo "$root" > ${folder}/root; setsid env -i PATH="$PATH" HOME="$HOME" sh -c '(setsid python3 ${folder}/wait.py &)' >/dev/null 2>&1 </dev/null`,
    ),
  );
  run(root);
  writeFileSync(join(folder, "over"), "");
  expect(await textOf(join(folder, "said"), (text) => text.includes("exit "))).toMatch(
    /only claims to be one[\s\S]*exit 1/,
  );
  expect(statusOf(root)).toBe("escalated");
  rmSync(folder, { recursive: true });
});

describe("an identified person", () => {
  test("answers in a terminal that is older than the engine, while it works", { timeout: 60_000 }, async () => {
    const state = mkdtempSync(join(tmpdir(), "remand-terminal-"));
    const root = checkoutOf(projectFiles(`while [ ! -e "$root/go" ]; do sleep 0.1; done`));
    const words = `echo > open; while [ ! -e asked ]; do sleep 0.1; done; ${REMAND} ${FORCE} > said 2>&1; echo "exit $?" >> said`;
    const env = { ...process.env, XDG_STATE_HOME: state, REMAND_TOKEN: "" };
    const pty = `import pty, sys; pty.spawn(["sh", "-c", sys.argv[1]])`;
    const terminal = spawn("python3", ["-c", pty, words], { cwd: root, stdio: "ignore", env, detached: true });
    await textOf(join(root, "open"), (text) => text !== "");
    const engine = startEngine(root, env);
    try {
      await textOf(join(root, ".remand/worktrees/say-it/answer.txt"), (text) => text.includes("tried"));
      write(root, "asked", "");
      expect(await textOf(join(root, "said"), (text) => text.includes("exit "))).toContain("exit 0");
      write(root, "go", "");
      await engine.ended;
    } finally {
      engine.process.kill("SIGKILL");
      terminal.kill("SIGKILL");
    }
    expect(remand(root, ["log"]).stdout).toContain("Ada (terminal)");
    rmSync(state, { recursive: true });
  });

  test("answers with a token, and a wrong one or an open file is refused", { timeout: 60_000 }, () => {
    const root = checkoutOf(projectFiles("true"));
    const state = join(root, "state");
    const env = { XDG_STATE_HOME: state, REMAND_TOKEN: undefined };
    const made = remand(root, ["token"], env);
    expect(made.stdout).toMatch(/^rmd_[\w-]{43}\n$/);
    expect(readFileSync(join(state, "remand/token.json"), "utf8")).not.toContain(made.stdout.trim());
    expect(remand(root, ["token"], env)).toMatchObject({ status: 2, stdout: "" });
    run(root, env);
    // Now that an engine has run, a process without a terminal may be an agent's.
    expect(remand(root, ["token", "rotate"], env).stderr).toContain("A new token needs an identified person");
    expect(remand(root, FORCE.split(" "), env).stderr).toContain(
      "force-complete needs an identified person, and this process only claims to be one: it has no terminal and no token",
    );
    expect(remand(root, FORCE.split(" "), { ...env, REMAND_TOKEN: "rmd_wrong" }).stderr).toContain(
      "The token is wrong",
    );
    const file = join(root, "my-token");
    writeFileSync(file, made.stdout, { mode: 0o644 });
    const open = remand(root, [...FORCE.split(" "), "--token-file", "my-token"], env);
    expect(open.stderr).toMatch(/Other users may read or write .*my-token \(mode 0644\)\n\s+Run chmod 600/);
    expect(statusOf(root)).toBe("escalated");
    const rotated = remand(root, ["token", "rotate", "--json"], { ...env, REMAND_TOKEN: made.stdout.trim() });
    writeFileSync(file, (JSON.parse(rotated.stdout) as { token: string }).token);
    chmodSync(file, 0o600);
    expect(remand(root, FORCE.split(" "), { ...env, REMAND_TOKEN: made.stdout.trim() }).stderr).toContain("wrong");
    expect(remand(root, [...FORCE.split(" "), "--token-file", "my-token"], env)).toMatchObject({
      status: 0,
      stderr: "",
    });
    expect(statusOf(root)).toBe("accepted");
    expect(remand(root, ["show", "say-it"]).stdout).toContain("Waived  checks by Ada (token): done");
  });
});

function startEngine(
  root: string,
  env: Variables,
): { readonly process: ChildProcess; readonly ended: Promise<unknown> } {
  const engine = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, stdio: "ignore", env });
  return { process: engine, ended: new Promise((resolve) => engine.once("exit", resolve)) };
}

test("a claim pauses and sends back; what an identified person paused stays paused", { timeout: 60_000 }, () => {
  const files = projectFiles("true");
  const root = checkoutOf({ ...files, "remand.yaml": files["remand.yaml"]!.replace("iterations: 1", "failures: 1") });
  run(root);
  const back = ["answer", "say-it", "send-back", "--message", "in capitals", "--by", "Ada"];
  expect(remand(root, back, UNIDENTIFIED)).toMatchObject({ status: 0, stderr: "" });
  expect(remand(root, ["log"]).stdout).toContain("Ada (claim) says send-back");
  expect(remand(root, ["answer", "say-it", "--undo", "--by", "Ada"], UNIDENTIFIED).stderr).toContain(
    "Undoing an answer needs an identified person",
  );
  expect(remand(root, ["stop", "say-it", "--by", "Ada"]).status).toBe(0);
  expect(remand(root, ["stop", "say-it", "--by", "Eve"], UNIDENTIFIED).status).toBe(0);
  const paused = remand(root, ["run", "say-it", "--reporter", "minimal", "--by", "Eve"], UNIDENTIFIED);
  expect(paused.stderr).toContain("say-it stays paused. Resuming a story that an identified person paused needs");
  expect(remand(root, ["log"]).stdout).not.toContain("resumed by");
  expect(remand(root, ["resume"], UNIDENTIFIED).stderr).toContain("needs an identified person");
  expect(remand(root, ["resume"]).stdout).toContain("resumed: say-it");
  run(root);
  expect(remand(root, ["log"]).stdout).toMatch(/resumed by .+ \(token\)/);
});

test("a test suite that an engine runs may answer in a project of its own", { timeout: 60_000 }, async () => {
  const inner = checkoutOf(projectFiles("true"));
  const own = `XDG_STATE_HOME=${process.env["XDG_STATE_HOME"]} REMAND_TOKEN=${TEST_TOKEN}`;
  const root = checkoutOf(
    projectFiles(
      `(cd ${inner} && ${REMAND} run --reporter minimal; ${own} ${REMAND} ${FORCE} > "$root/said" 2>&1; echo "exit $?" >> "$root/said")`,
    ),
  );
  run(root);
  expect(await textOf(join(root, "said"), (text) => text.includes("exit "))).toContain("exit 0");
  expect(statusOf(inner)).toBe("accepted");
  expect(statusOf(root)).toBe("escalated");
  // What was begun by a person is not the agent's to go on with.
  const persons = checkoutOf(projectFiles("true"));
  run(persons);
  write(root, "agent.sh", `cd ${persons}; ${REMAND} run > ${root}/said 2>&1; echo "exit $?" >> ${root}/said\n`);
  rmSync(join(root, "said"));
  spawnSync("git", ["commit", "-qam", "another agent"], { cwd: root });
  write(root, "stories/again.md", STORY);
  remand(root, ["run", "again", "--reporter", "minimal"]);
  expect(await textOf(join(root, "said"), (text) => text.includes("exit "))).toMatch(
    /An engine started this process[\s\S]*exit 1/,
  );
});

const missing = missingSandbox();

test.skipIf(missing !== null)(
  `an agent in a sandbox finds nothing to answer to${missing === null ? "" : ` (${missing})`}`,
  () => {
    const says = SAYS.map((words) => `(cd "$root" && ${REMAND} ${words}) >> said 2>&1; echo "exit $?" >> said`);
    const { root, clear } = makeRepository(projectFiles(says.join("\n")));
    try {
      run(root, { REMAND_SANDBOX: "required" });
      const said = spawnSync("git", ["show", "remand/say-it:said"], { cwd: root, encoding: "utf8" }).stdout;
      expect(said.match(/^exit \d+$/gm), said).toHaveLength(SAYS.length);
      expect(said).not.toContain("exit 0");
      expect(remand(root, ["log", "--json"]).stdout).not.toContain("person.answered");
      expect(statusOf(root)).toBe("escalated");
    } finally {
      clear();
    }
  },
);
