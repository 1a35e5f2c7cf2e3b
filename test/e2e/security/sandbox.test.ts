import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { missingSandbox } from "../../kit/sandbox.ts";

/*
 * What an agent, and the code that a check runs, can reach with a sandbox and without one. The attempts are looked at
 * from outside: by the files that changed, the services that were called, the processes that are left.
 */

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const SECRET = "swordfish-0f3a9b";

/** By what is attempted: the shell of the attempt. `$H` is the user's HOME, `$P` the user's checkout. */
const ATTEMPTS = {
  "write into the user's checkout": 'echo x > "$P/planted"',
  "commit to the user's branch": 'git -C "$P" -c user.name=x -c user.email=x@y commit --allow-empty -m planted',
  "add a git hook": 'printf "#!/bin/sh\\n" > "$P/.git/hooks/post-commit"',
  "write to the journal": 'echo x >> "$P/.remand/journal.db"',
  "write to the evidence": 'mkdir -p "$P/.remand/evidence" && echo x > "$P/.remand/evidence/planted"',
  "write into another story's checkout": 'echo x > "$P/.remand/worktrees/other/planted"',
  "write to a linked package": 'echo x > "$P/node_modules/helper/planted"',
  "write to Remand's settings": 'echo "sandbox: off" > "$H/.config/remand/config.yaml"',
  "write to Claude's settings": 'echo "{}" > "$H/.claude/settings.json"',
  "write to the shell's start file": 'echo "echo planted" >> "$H/.profile"',
  "read a key of ssh": 'cat "$H/.ssh/id_ed25519" >> "$OUT"',
  "read a token of npm": 'cat "$H/.npmrc" >> "$OUT"',
  "read Remand's state": 'cat "$H/.local/state/remand/token" >> "$OUT"',
  "read the environment of the engine": 'cat /proc/[0-9]*/environ 2> /dev/null | tr "\\0" "\\n" >> "$OUT"',
  "call the ssh agent": 'call "$H/agent.sock" ssh',
  "call the user's bus": 'call "$H/runtime/bus" bus',
  "call tmux": 'call "/tmp/tmux-remand-test/default" tmux',
  "leave a process behind": "setsid env -i sh -c 'sleep 120' remand-left-behind > /dev/null 2>&1 < /dev/null &",
} as const;
type Attempt = keyof typeof ATTEMPTS;

/** Asks a service on a socket. */
const CALL = `call() { python3 -c 'import socket,sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode()); s.close()' "$1" "$2"; }`;

function scriptOf({ home, root }: TestRepository): string {
  const lines = Object.values(ATTEMPTS).map((line) => `( ${line} ) 2> /dev/null`);
  return `${CALL}\nH=${home} P=${root}\nOUT=$PWD/seen.txt\n: > "$OUT"\n${lines.join("\n")}\ntrue\n`;
}

interface Services {
  readonly called: Set<string>;
  close(): void;
}

async function openServices({ home }: TestRepository): Promise<Services> {
  const called = new Set<string>();
  const servers: Server[] = [];
  mkdirSync("/tmp/tmux-remand-test", { recursive: true });
  mkdirSync(join(home, "runtime"), { recursive: true });
  for (const path of [join(home, "agent.sock"), join(home, "runtime/bus"), "/tmp/tmux-remand-test/default"]) {
    spawnSync("rm", ["-f", path]);
    const server = createServer((socket) => {
      socket.on("data", (data) => void called.add(data.toString()));
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(path, () => resolve()));
    chmodSync(path, 0o777);
    servers.push(server);
  }
  return { called, close: () => servers.forEach((server) => server.close()) };
}

/** Which of the attempts had an effect. */
async function play(how: "agent" | "check", sandbox: "off" | "required", user: number): Promise<ReadonlySet<Attempt>> {
  const repository = makeRepository({
    "a.txt": "old\n",
    "check.sh": "grep new a.txt\n",
    ".gitignore": "node_modules\n",
  });
  onTestFinished(() => repository.clear());
  const { home, root } = repository;
  const put = (path: string, text: string): void => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  };
  put(join(home, ".ssh/id_ed25519"), `${SECRET}-ssh\n`);
  put(join(home, ".npmrc"), `//registry.example.org/:_authToken=${SECRET}-npm\n`);
  put(join(home, ".local/state/remand/token"), `${SECRET}-state\n`);
  put(join(home, ".claude/settings.json"), '{"model":"x"}\n');
  put(join(home, ".config/remand/config.yaml"), "autonomy: standard\n");
  put(join(home, ".profile"), "");
  put(join(root, "node_modules/helper/index.js"), "");
  put(join(root, ".remand/worktrees/other/a.txt"), "");
  writeFileSync(join(root, ".remand/.gitignore"), "*\n");
  const services = await openServices(repository);
  onTestFinished(() => services.close());
  const script = scriptOf(repository);
  // Not below the home folder: what the command line names there may be written.
  const tools = join("/var/tmp", `remand-sandbox-test-${process.pid}`);
  mkdirSync(tools, { recursive: true });
  onTestFinished(() => void spawnSync("rm", ["-rf", tools]));
  writeFileSync(
    join(tools, "agent.sh"),
    how === "agent" ? `${script}\necho new > a.txt\n` : "cp $0.work check.sh; echo new > a.txt\n",
  );
  writeFileSync(join(tools, "agent.sh.work"), `${script}\ngrep new a.txt\n`);
  if (user !== 0) spawnSync("chown", ["-R", `${user}:${user}`, home, tools]);
  const env = {
    ...repository.env,
    REMAND_SANDBOX: sandbox,
    GH_TOKEN: `${SECRET}-environment`,
    SSH_AUTH_SOCK: join(home, "agent.sock"),
    XDG_RUNTIME_DIR: join(home, "runtime"),
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home, "runtime/bus")}`,
  };
  const args = ["loop", "--worktree", "--force", "--max-iterations", "1", "--reporter", "default"];
  const command = [MAIN, ...args, "--check", "sh check.sh", "--", "sh", join(tools, "agent.sh")];
  const out = await outputOf(command, root, env, user);
  if (user !== 0) spawnSync("chown", ["-R", "0:0", home]);
  const seen = seenIn(repository);
  const log = repository.git("log", "--all", "--format=%s");
  const size = existsSync(join(root, ".remand/journal.db"))
    ? readFileSync(join(root, ".remand/journal.db"))
    : Buffer.alloc(0);
  const left = spawnSync("pgrep", ["-f", "remand-left-behind"], { encoding: "utf8" }).stdout.trim() !== "";
  spawnSync("pkill", ["-f", "remand-left-behind"]);
  const had: { readonly [A in Attempt]: boolean } = {
    "write into the user's checkout": existsSync(join(root, "planted")),
    "commit to the user's branch": log.includes("planted"),
    "add a git hook": existsSync(join(root, ".git/hooks/post-commit")),
    "write to the journal": size.subarray(-2).toString() === "x\n",
    "write to the evidence": existsSync(join(root, ".remand/evidence/planted")),
    "write into another story's checkout": existsSync(join(root, ".remand/worktrees/other/planted")),
    "write to a linked package": existsSync(join(root, "node_modules/helper/planted")),
    "write to Remand's settings": readFileSync(join(home, ".config/remand/config.yaml"), "utf8").includes("off"),
    "write to Claude's settings": !readFileSync(join(home, ".claude/settings.json"), "utf8").includes("model"),
    "write to the shell's start file": readFileSync(join(home, ".profile"), "utf8").includes("planted"),
    "read a key of ssh": seen.includes(`${SECRET}-ssh`),
    "read a token of npm": seen.includes(`${SECRET}-npm`),
    "read Remand's state": seen.includes(`${SECRET}-state`),
    "read the environment of the engine": seen.includes(`${SECRET}-environment`),
    "call the ssh agent": services.called.has("ssh"),
    "call the user's bus": services.called.has("bus"),
    "call tmux": services.called.has("tmux"),
    "leave a process behind": left,
  };
  const worked = (Object.keys(had) as Attempt[]).filter((attempt) => had[attempt]);
  if (!out.includes("developer works")) throw new Error(out);
  return new Set(worked);
}

/** Without blocking this process, whose services are called meanwhile. */
function outputOf(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>, user: number) {
  return new Promise<string>((resolve, reject) => {
    const ids = user === 0 ? {} : { uid: user, gid: user };
    const child = spawn(process.execPath, command, { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...ids });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (out += data.toString()));
    child.once("error", reject);
    child.once("close", () => resolve(out));
  });
}

/** What the attempts could read: the file is part of the work, or in the log of the check. */
function seenIn({ root, git }: TestRepository): string {
  const branches = git("for-each-ref", "--format=%(refname)", "refs/heads/remand")
    .split("\n")
    .filter((each) => each !== "");
  const texts = branches.map(
    (branch) => spawnSync("git", ["show", `${branch}:seen.txt`], { cwd: root, encoding: "utf8" }).stdout,
  );
  const kept = join(root, ".remand/worktrees");
  const folders = existsSync(kept) ? readdirSync(kept) : [];
  const files = folders.map((name) => join(kept, name, "seen.txt")).filter((file) => existsSync(file));
  return [...texts, ...files.map((file) => readFileSync(file, "utf8"))].join("\n");
}

const missing = missingSandbox();
const isRoot = process.getuid?.() === 0;
/** A user without any rights. */
const GUEST = 65534;

describe.skipIf(missing !== null)(`in a sandbox${missing === null ? "" : ` (${missing})`}`, () => {
  test("an agent reaches nothing of the user's", async () => {
    expect([...(await play("agent", "required", 0))]).toEqual([]);
  });

  test.skipIf(!isRoot)("nor does one of an ordinary user", async () => {
    expect([...(await play("agent", "required", GUEST))]).toEqual([]);
  });

  test("the code that a check runs reaches nothing of the user's", async () => {
    const reached = await play("check", "required", 0);
    expect([...reached]).toEqual([]);
  });
});

test("without one an agent reaches what the user reaches", async () => {
  const reached = await play("agent", "off", 0);
  for (const attempt of [
    "write into the user's checkout",
    "write to Claude's settings",
    "read a key of ssh",
    "read the environment of the engine",
    "call tmux",
  ] as const)
    expect([...reached]).toContain(attempt);
});
