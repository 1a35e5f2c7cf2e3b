import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sandboxMode } from "./sandbox.ts";
import { keepTestToken, TEST_TOKEN } from "./test-token.ts";

/** A real repository in its own folder, without the git configuration of the user who runs the tests. */
export interface TestRepository {
  readonly home: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  git(...args: string[]): string;
  write(path: string, text: string | Uint8Array): void;
  /** What could be touched by mistake: branch, index, stash, and what git says of the files. */
  standing(): unknown;
  clear(): void;
}

export function makeRepository(
  files: Readonly<Record<string, string>> = { "README.md": "hello\n" },
  sandbox: "auto" | "off" = sandboxMode(),
): TestRepository {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "remand-git-")));
  const root = join(home, "project");
  mkdirSync(root);
  keepTestToken(join(home, ".local/state"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    REMAND_SANDBOX: sandbox,
    REMAND_TOKEN: TEST_TOKEN,
  };
  const git = (...args: string[]): string => gitIn(root, env, ...args);
  const repository: TestRepository = {
    home,
    root,
    env,
    git,
    write: (path, text) => write(root, path, text),
    standing: () => ({
      head: readFileSync(join(root, ".git/HEAD"), "utf8"),
      index: readFileSync(join(root, ".git/index")).toString("base64"),
      branches: git("for-each-ref", "refs/heads", "refs/tags", "refs/stash").replaceAll(
        /.*refs\/heads\/remand\/.*\n/g,
        "",
      ),
      config: readFileSync(join(root, ".git/config"), "utf8"),
    }),
    clear: () => rmSync(home, { recursive: true, force: true }),
  };
  git("init", "--quiet", "-b", "main");
  for (const [path, text] of Object.entries(files)) repository.write(path, text);
  git("add", "--all");
  if (Object.keys(files).length > 0) git("commit", "--quiet", "-m", "start");
  return repository;
}

export function gitIn(cwd: string, env: Readonly<Record<string, string>>, ...args: string[]): string {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...identity, ...args], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export function write(root: string, path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Every file below a folder: what it is and what it holds. Git's and our own folders are left out. */
export function filesIn(root: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, below)).sort()) {
    if (below === "" && (name === ".git" || name === ".remand")) continue;
    const path = below === "" ? name : `${below}/${name}`;
    const stat = lstatSync(join(root, path));
    if (stat.isDirectory()) Object.assign(found, filesIn(root, path));
    else if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(root, path))}`;
    else found[path] = `${stat.mode & 0o100 ? "x" : "-"} ${readFileSync(join(root, path), "latin1")}`;
  }
  return found;
}
