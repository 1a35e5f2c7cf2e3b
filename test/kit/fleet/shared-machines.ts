import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";

import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openClone, type Clone, type CloneOptions } from "../../../src/adapters/git/fleet/shared-clone.ts";
import { createSharedWorktrees, type SharedWorktrees } from "../../../src/adapters/git/fleet/shared-worktrees.ts";
import type { StoryId } from "../../../src/core/events/ids.ts";
import type { KeptCommit } from "../../../src/ports/workspace.ts";
import { note } from "../../contract/workspace.ts";
import { gitIn, makeRepository, write, type TestRepository } from "../git-repository.ts";

/** What the folded journal says of stories: the one thing that all machines agree on. */
export interface TestJournal {
  readonly commits: Map<StoryId, string>;
  readonly runs: Map<StoryId, number>;
  readonly over: Set<StoryId>;
  /** Something begins for a story. */
  begin(story: StoryId): number;
  /** It has ended, and the story is at that commit now. */
  end(story: StoryId, commit?: string): void;
}

export interface Machine {
  readonly name: string;
  readonly clone: Clone;
  readonly work: SharedWorktrees;
  /** A whole attempt: begun, worked on, kept, and written down. */
  attempt(story: StoryId, number: number, files: Readonly<Record<string, string>>): Promise<KeptCommit>;
}

export interface Fleet {
  readonly origin: TestRepository;
  /** The bare repository, and its address. */
  readonly bare: string;
  readonly address: string;
  readonly journal: TestJournal;
  git(...args: string[]): string;
  refs(pattern?: string): readonly string[];
  /** The text of a file on a branch or commit of the remote. */
  file(at: string, path: string): string;
  /** Has the remote do something when it is pushed to. */
  hook(name: string, script: string): void;
  machine(name: string, options?: Partial<CloneOptions>, journal?: TestJournal): Promise<Machine>;
  clear(): Promise<void>;
}

export function makeFleet(files: Readonly<Record<string, string>> = { "a.txt": "one\n", "b.txt": "b\n" }): Fleet {
  const origin = makeRepository(files);
  const bare = join(origin.home, "shared.git");
  origin.git("clone", "--quiet", "--bare", origin.root, bare);
  const git = (...args: string[]): string => gitIn(bare, origin.env, ...args);
  const journal = makeJournal();
  const machines: Machine[] = [];
  return {
    origin,
    bare,
    address: bare,
    journal,
    git,
    refs: (pattern = "refs") => git("for-each-ref", "--format=%(refname)", pattern).split("\n").filter(Boolean),
    file: (at, path) => git("show", `${at}:${path}`),
    hook(name, script) {
      write(bare, `hooks/${name}`, script);
      chmodSync(join(bare, "hooks", name), 0o755);
    },
    async machine(name, options = {}, own = journal) {
      const { env, home } = origin;
      const clone = await openClone({ remote: bare, folder: join(home, name), env, waitsMs: [10, 20, 40], ...options });
      const machine = machineOf(name, clone, options.env ?? env, own);
      machines.push(machine);
      return machine;
    },
    async clear() {
      for (const { clone } of machines) await clone.close();
      origin.clear();
    },
  };
}

export function makeJournal(): TestJournal {
  let seq = 0;
  const commits = new Map<StoryId, string>();
  const runs = new Map<StoryId, number>();
  return {
    commits,
    runs,
    over: new Set(),
    begin(story) {
      runs.set(story, ++seq);
      return seq;
    },
    end(story, commit) {
      runs.delete(story);
      if (commit !== undefined) commits.set(story, commit);
    },
  };
}

/** The journal as a process sees it that has been suspended since then. */
export function asItIs({ commits, runs }: TestJournal): TestJournal {
  return { ...makeJournal(), commits: new Map(commits), runs: new Map(runs) };
}

function machineOf(name: string, clone: Clone, env: Readonly<Record<string, string>>, journal: TestJournal): Machine {
  const work = createSharedWorktrees(
    { root: clone.root, state: join(clone.root, ".remand"), env },
    {
      clone,
      standingOf: (story) => ({
        commit: journal.commits.get(story) ?? null,
        run: journal.runs.get(story) ?? null,
        isOver: journal.over.has(story),
      }),
    },
  );
  return {
    name,
    clone,
    work,
    async attempt(story, number, files) {
      journal.begin(story);
      const { path } = await work.prepare(story);
      for (const [file, text] of Object.entries(files)) write(path, file, text);
      const kept = await work.keep(story, note(number));
      journal.end(story, kept.commit);
      return kept;
    },
  };
}

export interface Daemon {
  readonly address: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Replaces it by a server that accepts every connection and closes it. */
  hangUp(): Promise<{ called(times: number): Promise<void>; close(): Promise<void> }>;
}

/** Git's own server on loopback. It comes with git; where it does not, that is an error and no reason to skip. */
export async function gitDaemon(bare: string, env: Readonly<Record<string, string>>): Promise<Daemon> {
  const port = await freePort();
  let server: ChildProcess | null = null;
  const daemon: Daemon = {
    address: `git://127.0.0.1:${port}/shared.git`,
    async start() {
      const base = join(bare, "..");
      const args = ["daemon", "--reuseaddr", "--listen=127.0.0.1", `--port=${port}`, `--base-path=${base}`];
      server = spawn("git", [...args, "--export-all", "--enable=receive-pack", base], { env, detached: true });
      let said = "";
      server.stderr!.on("data", (text: Buffer) => (said += text.toString()));
      while (!(await answers(port))) {
        if (server.exitCode !== null) throw new Error(`git daemon does not run here: ${said}`);
        await pause(10);
      }
    },
    async stop() {
      if (server === null) return;
      const gone = once(server, "exit");
      // The server has a child process for each connection.
      process.kill(-server.pid!, "SIGKILL");
      await gone;
      server = null;
      while (await answers(port)) await pause(5);
    },
    hangUp: () => hangUp(port),
  };
  await daemon.start();
  return daemon;
}

async function hangUp(port: number): ReturnType<Daemon["hangUp"]> {
  let calls = 0;
  const server = createServer((socket) => {
    calls++;
    socket.destroy();
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    async called(times) {
      while (calls < times) await once(server, "connection");
    },
    async close() {
      server.close();
      await once(server, "close");
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
