import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorkStarter, type WorkStarter } from "../../../src/adapters/git/dependencies/work-start.ts";
import { makeRepository, write, type TestRepository } from "../../kit/git-repository.ts";

let repository: TestRepository;
let home: string;
let checkouts: number;
beforeEach(() => {
  repository = makeRepository();
  home = join(repository.home, "user");
  checkouts = 0;
  for (const [path, text] of Object.entries(SETTINGS)) write(home, path, text);
});
afterEach(() => repository.clear());

const SETTINGS = {
  ".gitconfig": "[core]\n\tautocrlf = false\n",
  ".npmrc": "registry=https://npm.example.com/\n//npm.example.com/:_authToken=abc\n",
  ".config/git/ignore": "*.log\n",
  ".config/go/env": "GOFLAGS=-mod=mod\n",
  ".config/gh/hosts.yml": "oauth_token: abc\n",
  ".config/remand/config.yaml": "env: []\n",
  ".local/state/remand/token": "abc\n",
  ".local/state/other/file": "other\n",
  ".local/lib/python3.12/site-packages/dep/__init__.py": "",
  ".cargo/config.toml": "[build]\n",
  ".cargo/credentials.toml": "token = 'abc'\n",
  ".cargo/registry/CACHEDIR.TAG": "",
  ".cargo/bin/small": "#!/bin/sh\n",
  ".rustup/toolchains/stable/bin/rustc": "",
  ".m2/repository/org/dep.jar": "",
  ".cache/go-build/entry": "",
  ".docker/config.json": '{ "auths": { "a": {} }, "currentContext": "here" }',
  ".ssh/id_ed25519": "abc",
  ".netrc": "abc",
  "go/pkg/mod/dep.go": "",
  "notes.txt": "mine\n",
};

const starter = (): WorkStarter =>
  createWorkStarter(repository.root, {
    userState: join(repository.home, "state"),
    share: null,
    home,
    env: repository.env,
  });
async function homeIn(start: WorkStarter, env: Record<string, string> = {}): Promise<Record<string, string>> {
  const checkout = join(repository.home, `checkout-${++checkouts}`);
  mkdirSync(checkout);
  return { ...(await start.environment(checkout, { HOME: home, ...env })) };
}
const textIn = (folder: string, path: string): string => readFileSync(join(folder, path), "utf8");

test("settings are copied, secrets are left out, and toolchains and caches are linked", async () => {
  const start = starter();
  const env = await homeIn(start, {
    CARGO_HOME: join(home, ".cargo"),
    XDG_CONFIG_HOME: join(home, ".config"),
    RUSTUP_HOME: join(home, ".rustup"),
    GOMODCACHE: join(home, "go/pkg/mod"),
    PATH: join(home, ".cargo/bin"),
  });
  const own = env["HOME"]!;
  expect(own).not.toBe(home);
  for (const path of [".gitconfig", ".config/git/ignore", ".config/go/env", ".cargo/config.toml", "notes.txt"]) {
    expect(textIn(own, path)).toBe(textIn(home, path));
    expect(realpathSync(join(own, path)), path).toBe(join(realpathSync(own), path));
  }
  expect(textIn(own, ".npmrc")).toBe("registry=https://npm.example.com/\n\n");
  expect(JSON.parse(textIn(own, ".docker/config.json"))).toEqual({ currentContext: "here" });
  for (const path of [
    ".ssh",
    ".netrc",
    ".config/gh",
    ".config/remand",
    ".local/state/remand",
    ".cargo/credentials.toml",
  ])
    expect(existsSync(join(own, path)), path).toBe(false);
  for (const path of [".cargo/registry", ".rustup/toolchains", ".m2/repository", ".cache", "go", ".local/state/other"])
    expect(realpathSync(join(own, path)), path).toBe(join(realpathSync(home), path));
  expect(lstatSync(join(own, ".local/lib/python3.12/site-packages")).isDirectory()).toBe(true);
  expect(env).toMatchObject({
    CARGO_HOME: join(own, ".cargo"),
    XDG_CONFIG_HOME: join(own, ".config"),
    RUSTUP_HOME: join(own, ".rustup"),
    GOMODCACHE: join(home, "go/pkg/mod"),
    GOPATH: join(home, "go"),
    PATH: join(home, ".cargo/bin"),
  });
  expect((await start.now()).leftOut.toSorted()).toEqual([".cargo/credentials.toml", ".config/gh", ".netrc", ".ssh"]);
  const setup = await (await start.now()).setupEnvironment(join(repository.home, "checkout-1"), { HOME: home });
  expect(textIn(setup["HOME"]!, ".npmrc")).toBe(SETTINGS[".npmrc"]);
  expect(textIn(setup["HOME"]!, ".ssh/id_ed25519")).toBe("abc");
  await start.close();
  expect(readdirSync(join(repository.home, "state/homes"), { recursive: true })).toEqual(["tried"]);
});

describe("later changes", () => {
  const change = (by: string): void => {
    write(home, ".config/go/env", `GOFLAGS=${by}\n`);
    write(home, ".config/npm/added", by);
    write(home, ".local/lib/python3.12/site-packages/usercustomize.py", by);
  };

  test("by an agent are not visible, even after a crash", async () => {
    await (await starterOpened(false)).now();
    change("agent");
    const own = (await homeIn(await starterOpened(true)))["HOME"]!;
    expect(textIn(own, ".config/go/env")).toBe("GOFLAGS=-mod=mod\n");
    expect(existsSync(join(own, ".config/npm"))).toBe(false);
    expect(existsSync(join(own, ".local/lib/python3.12/site-packages/usercustomize.py"))).toBe(false);
  });

  test("by a check are visible only to that check", async () => {
    const start = await starterOpened(false);
    const first = (await homeIn(start))["HOME"]!;
    write(first, ".config/go/env", "GOFLAGS=check\n");
    expect(textIn((await homeIn(start))["HOME"]!, ".config/go/env")).toBe("GOFLAGS=-mod=mod\n");
    // The next checkout in the same folder: the same path, without the earlier changes.
    await (await start.now()).forget(join(repository.home, "checkout-1"));
    const next = await start.environment(join(repository.home, "checkout-1"), { HOME: home });
    expect(next["HOME"]).toBe(first);
    expect(textIn(first, ".config/go/env")).toBe("GOFLAGS=-mod=mod\n");
    expect(textIn(home, ".config/go/env")).toBe("GOFLAGS=-mod=mod\n");
  });

  test("by a person between two runs are visible, and an agent's earlier ones are not", async () => {
    const start = await starterOpened(false);
    change("agent");
    await start.leave(true);
    write(home, ".npmrc", "registry=https://other.example.com/\n");
    const again = await starterOpened(true);
    const own = (await homeIn(again))["HOME"]!;
    expect(textIn(own, ".config/go/env")).toBe("GOFLAGS=-mod=mod\n");
    expect(existsSync(join(own, ".config/npm/added"))).toBe(false);
    expect(textIn(own, ".npmrc")).toBe("registry=https://other.example.com/\n");
    await again.leave(false);
    expect(readdirSync(join(repository.home, "state/starts"))).toEqual([]);
  });
});

async function starterOpened(isUnderWay: boolean): Promise<WorkStarter> {
  const start = starter();
  await start.open(isUnderWay);
  return start;
}

test("a program of the checkout on the PATH is taken from the folder that is checked", async () => {
  const checkout = join(repository.home, "clean");
  write(checkout, ".git/HEAD", "");
  write(checkout, ".venv/bin/tool", "");
  const { root } = repository;
  const PATH = `${root}/.venv/bin:${root}/elsewhere/bin:/usr/bin`;
  const env = await starter().environment(checkout, { HOME: home, PATH, VIRTUAL_ENV: `${root}/.venv` });
  expect(env).toMatchObject({
    PATH: `${checkout}/.venv/bin:${root}/elsewhere/bin:/usr/bin`,
    VIRTUAL_ENV: `${checkout}/.venv`,
  });
});

/** Installed programs run with the HOME of the user who runs the tests. */
const TOOLS = {
  git: "git config --global --list",
  npm: "npm config get registry",
  node: "node --version",
  go: "go env GOROOT",
  cargo: "cargo --version",
  rustc: "rustc --version",
  python3: "python3 -c 'import site, ssl'",
};

test.each(Object.entries(TOOLS))("%s works as in the user's own HOME", async (name, command) => {
  const real = process.env["HOME"];
  const has = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  if (real === undefined || has.status !== 0) return console.warn(`NOT RUN: ${name}, because it does not work here`);
  const start = createWorkStarter(repository.root, {
    userState: join(repository.home, "state"),
    share: null,
    home: real,
  });
  const env = await start.environment(repository.root, { ...(process.env as Record<string, string>) });
  const own = spawnSync("sh", ["-c", command], { env, encoding: "utf8" });
  expect(own.stdout + own.stderr).toBe(has.stdout + has.stderr);
  expect(own.status).toBe(0);
  await start.close();
});
