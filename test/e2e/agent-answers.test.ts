import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { write } from "../kit/git-repository.ts";
import { checkoutOf } from "./checkout.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const STORY = '---\ntitle: Say right\nstatus: ready\ntarget: "*"\n---\n\nSay it.\n';

/** A project whose agent runs `script`, in its worktree, with `$1` the program and `$2` the checkout. */
function project(script: string): string {
  const root = checkoutOf({
    "answer.txt": "wrong\n",
    "agent.sh": `echo tried >> answer.txt\nnode=${process.execPath}\nmain=${MAIN}\nroot=$(cd ../../.. && pwd)\n${script}\n`,
    "stories/say-it.md": STORY,
    "remand.yaml": [
      "version: 1",
      "preset: goal",
      "agents: { developer: { use: command, command: sh agent.sh } }",
      "gates: { checks: { commands: [grep -q right answer.txt] } }",
      "limits: { iterations: 1 }",
      "",
    ].join("\n"),
  });
  return root;
}

function remand(root: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { cwd: root, encoding: "utf8" });
}

const FORCE = "answer say-it force-complete --message done --by Ada";
const CLEAN = 'env -i PATH="$PATH" HOME="$HOME"';
/** Where the agent notes what each of its answers came to. */
const NOTED = '> "$root/said" 2>&1; echo "exit $?" >> "$root/said"';

async function said(root: string): Promise<string> {
  const file = join(root, "said");
  const read = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
  while (!read().includes("exit ")) await sleep(50);
  return read();
}

function statusOf(root: string): string | undefined {
  const { stdout } = remand(root, "status", "--json");
  return (JSON.parse(stdout) as { stories: { id: string; status: string }[] }).stories.find(({ id }) => id === "say-it")
    ?.status;
}

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
  process.exit(1);
});`.trim();

/** Whatever an agent tries: what it is told, and how the story stands. */
const TRIES: readonly { readonly how: string; readonly script: string; readonly told: RegExp }[] = [
  {
    how: "directly",
    script: `(cd "$root" && "$node" "$main" ${FORCE} ${NOTED})`,
    told: /An engine started this process, so it cannot speak for a person/,
  },
  {
    how: "with an empty environment",
    script: `(cd "$root" && ${CLEAN} "$node" "$main" ${FORCE} ${NOTED})`,
    told: /An engine started this process/,
  },
  {
    how: "with an empty environment from its own first process on",
    script: `export root node main; cd "$root"; exec ${CLEAN} root="$root" sh -c '"${process.execPath}" "${MAIN}" ${FORCE} ${NOTED}'`,
    told: /An engine started this process, so it cannot speak for a person: process \d+ above it is the engine/,
  },
  {
    how: "by a grandchild in a session of its own that lost its parent",
    script: `cd "$root"; setsid ${CLEAN} root="$root" sh -c '(sleep 0.3; "${process.execPath}" "${MAIN}" ${FORCE} ${NOTED}) &' >/dev/null 2>&1 </dev/null; sleep 3`,
    told: /force-complete needs a person, and this process may be an agent's: it has no terminal/,
  },
  {
    how: "by a dashboard of its own",
    script: `(cd "$root" && "$node" -e '${DASHBOARD}' ${NOTED})`,
    told: /"status":403.*An engine started this process/,
  },
  {
    how: "by a pause, which grants nothing",
    script: `(cd "$root" && "$node" "$main" stop say-it --by Ada ${NOTED})`,
    told: /An engine started this process/,
  },
];

test.each(TRIES)(
  "an agent that answers for a person is refused: $how",
  { timeout: 60_000 },
  async ({ script, told }) => {
    const root = project(script);
    const run = remand(root, "run", "--reporter", "minimal");
    expect(run.status, run.stdout + run.stderr).not.toBe(0);
    const heard = await said(root);
    expect(heard).toMatch(told);
    expect(heard).toContain("Answer in a terminal of your own");
    expect(heard).not.toContain("exit 0");
    expect(statusOf(root)).toBe("escalated");
    expect(remand(root, "log", "say-it").stdout).not.toContain("Ada");
  },
);

test("a process that an agent left waiting for the engine's end is refused too", { timeout: 60_000 }, async () => {
  const wait = `while [ ! -e "$root/over" ]; do sleep 0.1; done`;
  const root = project(
    `cd "$root"; setsid ${CLEAN} root="$root" sh -c '(setsid sh -c "${wait.replaceAll('"', '\\"')}; \\"${process.execPath}\\" \\"${MAIN}\\" ${FORCE} ${NOTED.replaceAll('"', '\\"').replaceAll("$", "\\$")}" &)' >/dev/null 2>&1 </dev/null`,
  );
  remand(root, "run", "--reporter", "minimal");
  write(root, "over", "");
  expect(await said(root)).toMatch(/force-complete needs a person, and this process may be an agent's/);
  expect(statusOf(root)).toBe("escalated");
});

test("a person answers while the engine works, and after it", { timeout: 60_000 }, async () => {
  const root = project('while [ ! -e "$root/go" ]; do sleep 0.1; done');
  const engine = spawn(process.execPath, [MAIN, "run", "--reporter", "minimal"], { cwd: root, stdio: "ignore" });
  const ended = new Promise((resolve) => engine.once("exit", resolve));
  try {
    while (!existsSync(join(root, ".remand/worktrees/say-it/answer.txt"))) await sleep(50);
    expect(remand(root, "answer", "say-it", "send-back", "--message", "in capitals", "--by", "Ada")).toMatchObject({
      status: 0,
      stderr: "",
    });
    write(root, "go", "");
    await ended;
  } finally {
    engine.kill("SIGKILL");
  }
  expect(statusOf(root)).toBe("escalated");
  const forced = remand(root, ...FORCE.split(" "));
  expect(forced.status, forced.stderr).toBe(0);
  expect(statusOf(root)).toBe("accepted");
});

test("a test suite that an engine runs may answer in a project of its own", { timeout: 60_000 }, async () => {
  const inner = project("true");
  const root = project(`(cd ${inner} && "$node" "$main" run --reporter minimal; "$node" "$main" ${FORCE} ${NOTED})`);
  remand(root, "run", "--reporter", "minimal");
  expect(await said(root)).toContain("exit 0");
  expect(statusOf(inner)).toBe("accepted");
  expect(statusOf(root)).toBe("escalated");
  // What was begun by a person is not the agent's to go on with.
  const persons = project("true");
  remand(persons, "run", "--reporter", "minimal");
  write(root, "agent.sh", `cd ${persons}; root=${root}; "${process.execPath}" "${MAIN}" run ${NOTED}\n`);
  rmSync(join(root, "said"));
  spawnSync("git", ["commit", "-qam", "another agent"], { cwd: root });
  write(root, "stories/again.md", STORY);
  remand(root, "run", "again", "--reporter", "minimal");
  expect(await said(root)).toMatch(/An engine started this process[\s\S]*exit 1/);
});
