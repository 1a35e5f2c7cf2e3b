import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openClone, type Clone, type CloneOptions } from "../../../../src/adapters/git/fleet/shared-clone.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { hasLargeFiles } from "../../../kit/has-large-files.ts";
import { filesIn, gitIn, makeRepository, write } from "../../../kit/git-repository.ts";
import { gitOverHttp } from "./git-over-http.ts";
import { gitDaemon, makeFleet, type Daemon, type Fleet } from "../../../kit/fleet/shared-machines.ts";

const STORY = storyId("S-1");
let fleet: Fleet;
let folder: string;
let notices: string[];
const opened: Clone[] = [];

beforeEach(() => {
  fleet = makeFleet();
  folder = join(fleet.origin.home, "worker");
  notices = [];
});
afterEach(async () => {
  for (const clone of opened.splice(0)) await clone.close();
  await fleet.clear();
});

async function open(options: Partial<CloneOptions> = {}): Promise<Clone> {
  const { env } = fleet.origin;
  const onNotice = (text: string): number => notices.push(text);
  const clone = await openClone({ remote: fleet.bare, folder, env, waitsMs: [5, 5], onNotice, ...options });
  opened.push(clone);
  return clone;
}

async function refusal(options: Partial<CloneOptions>): Promise<{ code: string; message: string; hint: string }> {
  return open(options).then(
    () => expect.unreachable("it was not refused"),
    (error: unknown) => error as never,
  );
}

/** Pushes to the branch from outside the fleet. */
function moveMain(): string {
  fleet.origin.write("a.txt", "newer\n");
  fleet.origin.git("commit", "--quiet", "-am", "newer");
  fleet.origin.git("push", "--quiet", fleet.bare, "main");
  return fleet.origin.git("rev-parse", "HEAD").trim();
}

describe("a clone", () => {
  test("is made, found again, and follows its branch", async () => {
    const clone = await open();
    expect(clone).toMatchObject({ root: folder, branch: "main", remote: { name: "origin", address: fleet.bare } });
    expect(filesIn(folder)).toMatchObject({ "a.txt": "- one\n" });
    writeFileSync(join(folder, ".git/seen"), "");
    expect(await clone.follow()).toBe(false);
    const commit = moveMain();
    expect(await clone.follow()).toBe(true);
    expect(filesIn(folder)).toMatchObject({ "a.txt": "- newer\n" });
    // As after a kill during a checkout: HEAD is right, and files are missing.
    rmSync(join(folder, "a.txt"));
    expect((await open()).branch).toBe("main");
    expect(gitIn(folder, fleet.origin.env, "rev-parse", "HEAD").trim()).toBe(commit);
    expect(filesIn(folder)).toMatchObject({ "a.txt": "- newer\n" });
    expect(existsSync(join(folder, ".git/seen"))).toBe(true);
  });

  test("uses the configured branch, whatever its name", async () => {
    fleet.git("branch", "büro/next", "main");
    folder = join(fleet.origin.home, "ein Ordner\nübermorgen");
    expect((await open({ branch: "büro/next" })).branch).toBe("büro/next");
    expect(gitIn(folder, fleet.origin.env, "branch", "--show-current").trim()).toBe("");
    expect(await refusal({ branch: "none" })).toMatchObject({ code: "workspace-broken" });
  });

  test("that was half made when its worker was killed is made again", async () => {
    const half = `${folder}.making-999999999-0000`;
    write(half, ".git/HEAD", "ref: refs/heads/main\n");
    mkdirSync(folder);
    await open();
    expect(existsSync(half)).toBe(false);
    expect(filesIn(folder)).toMatchObject({ "a.txt": "- one\n" });
  });

  test("is cleared of locks and leftovers of dead processes", async () => {
    await (await open()).close();
    const left = ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock"];
    const deeper = ["refs/remotes/origin/main.lock", "refs/remand/incoming.lock", "objects/pack/tmp_pack_x"];
    for (const name of [...left, ...deeper]) write(folder, `.git/${name}`, "");
    const commit = moveMain();
    await open();
    expect(gitIn(folder, fleet.origin.env, "rev-parse", "HEAD").trim()).toBe(commit);
    for (const name of [...left, ...deeper]) expect(existsSync(join(folder, ".git", name)), name).toBe(false);
  });

  test("that is damaged is moved aside and made again, with a notice", async () => {
    await (await open()).close();
    rmSync(join(folder, ".git/objects"), { recursive: true });
    await open();
    expect(filesIn(folder)).toMatchObject({ "a.txt": "- one\n" });
    expect(existsSync(`${folder}.lost-1`)).toBe(true);
    expect(notices.join()).toContain("was damaged");
  });

  test("is not made in a folder with files of the user", async () => {
    write(folder, "mine.txt", "mine\n");
    expect(await refusal({})).toMatchObject({ code: "workspace-broken" });
    expect(readdirSync(folder)).toEqual(["mine.txt"]);
  });

  test("belongs to one process at a time, as long as that process runs", async () => {
    await (await open()).close();
    const other = spawn("sleep", ["60"]);
    const ticks = readFileSync(`/proc/${other.pid}/stat`, "utf8").split(") ")[1]!.split(" ")[19];
    write(folder, ".git/remand-owner", JSON.stringify({ pid: other.pid, startTicks: ticks }));
    expect(await refusal({})).toMatchObject({ message: expect.stringContaining(`pid ${other.pid}`) });
    other.kill("SIGKILL");
    await new Promise((resolve) => other.once("exit", resolve));
    await open();
    // A cut-off note, or one whose process id belongs to another process by now, names no owner.
    write(folder, ".git/remand-owner", '{"pid":');
    await open();
    write(folder, ".git/remand-owner", JSON.stringify({ pid: process.ppid, startTicks: "1" }));
    await open();
  });

  test("of a shallow remote works like any other", async () => {
    moveMain();
    const shallow = join(fleet.origin.home, "shallow.git");
    fleet.origin.git("clone", "--quiet", "--bare", "--depth=1", `file://${fleet.bare}`, shallow);
    const [one, two] = [
      await fleet.machine("one", { remote: shallow }),
      await fleet.machine("two", { remote: shallow }),
    ];
    const { commit } = await one.attempt(STORY, 1, { "a.txt": "work\n" });
    const second = await two.attempt(STORY, 2, { "b.txt": "more\n" });
    expect(gitIn(shallow, fleet.origin.env, "rev-parse", `${second.commit}^`).trim()).toBe(commit);
    fleet.journal.begin(STORY);
    expect(await one.work.merge(STORY, second, { attempt: 2, subject: "merge", journalHead: "x" })).not.toBeNull();
    expect(gitIn(shallow, fleet.origin.env, "show", "main:b.txt")).toBe("more\n");
    await one.clone.close();
    await fleet.machine("one", { remote: shallow });
  });

  describe("of a project with large files", () => {
    const pointer = (size: number): string =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize ${size}\n`;
    const filters = (program: string): string =>
      `[filter "lfs"]\n\tclean = ${program} clean\n\tsmudge = ${program} smudge\n\trequired = true\n`;

    beforeEach(() => {
      fleet.origin.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
      fleet.origin.write("big.bin", pointer(5));
      fleet.origin.git("add", "--all");
      fleet.origin.git("commit", "--quiet", "-m", "large");
      fleet.origin.git("push", "--quiet", fleet.bare, "main");
    });

    test.skipIf(hasLargeFiles())("keeps them as pointers if git-lfs is missing", async () => {
      write(fleet.origin.home, ".gitconfig", filters("git-lfs"));
      const [one, two] = [await fleet.machine("one"), await fleet.machine("two")];
      await one.attempt(STORY, 1, { "other.bin": pointer(6) });
      fleet.journal.begin(STORY);
      const { path } = await two.work.prepare(STORY);
      expect(filesIn(path)).toMatchObject({ "big.bin": `- ${pointer(5)}`, "other.bin": `- ${pointer(6)}` });
    });

    test("sends them before the commits that refer to them; a rejection is an error", async () => {
      const { home, env } = fleet.origin;
      // A stand-in that leaves files unchanged, and records what it was asked to send.
      const script = `#!/bin/sh\ncase "$1" in\n  clean|smudge) cat ;;\n  push) echo "$2 $3" >>"${home}/sent"; test ! -e "${home}/full" ;;\nesac\n`;
      write(home, "bin/git-lfs", script);
      chmodSync(join(home, "bin/git-lfs"), 0o755);
      write(home, ".gitconfig", filters(join(home, "bin/git-lfs")));
      const one = await fleet.machine("one", { env: { ...env, PATH: `${home}/bin:${env["PATH"]}` } });
      const { commit } = await one.attempt(STORY, 1, { "other.bin": pointer(6) });
      expect(readFileSync(join(home, "sent"), "utf8")).toBe(`origin ${commit}\n`);
      write(home, "full", "");
      await expect(one.attempt(STORY, 2, { "other.bin": pointer(7) })).rejects.toThrow(/large files could not be sent/);
      expect(fleet.refs("refs/remand/attempts")).toEqual([`refs/remand/attempts/S-1/${commit}`]);
    });
  });
});

describe("problems of a remote are reported", () => {
  test("for a missing repository, an empty one, and one without a default branch", async () => {
    expect(await refusal({ remote: join(fleet.origin.home, "none.git") })).toMatchObject({ code: "not-a-repository" });
    const empty = join(fleet.origin.home, "empty.git");
    fleet.git("init", "--quiet", "--bare", empty);
    expect(await refusal({ remote: empty })).toMatchObject({ code: "no-commits" });
    fleet.git("symbolic-ref", "HEAD", "refs/heads/gone");
    expect(await refusal({})).toMatchObject({ code: "no-commits", hint: expect.stringContaining("name the branch") });
    expect((await open({ branch: "main" })).branch).toBe("main");
  });

  test("for another repository, and one that moved", async () => {
    await open();
    const other = makeRepository({ "other.txt": "other\n" });
    expect(await refusal({ remote: other.root })).toMatchObject({
      code: "workspace-broken",
      message: expect.stringContaining("no commit in common"),
    });
    other.clear();
    const moved = join(fleet.origin.home, "moved.git");
    fleet.git("clone", "--quiet", "--bare", ".", moved);
    expect((await open({ remote: moved })).remote.address).toBe(moved);
    expect(gitIn(folder, fleet.origin.env, "remote", "get-url", "origin").trim()).toBe(moved);
  });

  test("for a network that is down, within a time limit", async () => {
    expect(await refusal({ remote: "git://127.0.0.1:9/x.git" })).toMatchObject({ code: "forge-unreachable" });
    expect(await refusal({ remote: "ssh://git@127.0.0.1:9/x.git" })).toMatchObject({ code: "forge-unreachable" });
    const stopping = AbortSignal.timeout(50);
    const slow = { remote: "git://127.0.0.1:9/x.git", waitsMs: [60_000], signal: stopping };
    expect(await refusal(slow)).toMatchObject({ code: "forge-unreachable" });
  });
});

describe("over git's own protocol", () => {
  let daemon: Daemon;
  beforeEach(async () => {
    daemon = await gitDaemon(fleet.bare, fleet.origin.env);
  });
  afterEach(() => daemon.stop());

  test("two machines work on one story, and one of them merges it", async () => {
    const remote = daemon.address;
    const [one, two] = [await fleet.machine("one", { remote }), await fleet.machine("two", { remote })];
    await one.attempt(STORY, 1, { "a.txt": "1\n" });
    const second = await two.attempt(STORY, 2, { "a.txt": "2\n" });
    const { commit } = second;
    fleet.journal.begin(STORY);
    expect(await one.work.merge(STORY, second, { attempt: 2, subject: "merge", journalHead: "x" })).not.toBeNull();
    expect(fleet.file("main", "a.txt")).toBe("2\n");
    fleet.journal.end(STORY);
    await one.work.dispose(STORY);
    expect(fleet.refs("refs/heads/remand")).toEqual(["refs/heads/remand/S-1"]);
    expect(fleet.git("rev-parse", "remand/S-1").trim()).toBe(commit);
    expect(fleet.refs("refs/remand")).toEqual([]);
  });

  test("a remote that is away for a while is awaited; after longer it is an error, and tried again", async () => {
    const stop = new AbortController();
    const one = await fleet.machine("one", { remote: daemon.address, waitsMs: [20, 50, 5000], signal: stop.signal });
    // A worker that is told to stop still pushes the work it has to keep.
    stop.abort();
    fleet.journal.begin(STORY);
    const { path } = await one.work.prepare(STORY);
    write(path, "a.txt", "1\n");
    await daemon.stop();
    const nobody = await daemon.hangUp();
    const keeping = one.work.keep(STORY, { attempt: 1, subject: "one", journalHead: "x" });
    await nobody.called(2);
    await nobody.close();
    await daemon.start();
    const { commit } = await keeping;
    expect(fleet.file(commit, "a.txt")).toBe("1\n");
    await daemon.stop();
    await one.clone.close();
    await daemon.start();
    const hasty = await fleet.machine("one", { remote: daemon.address });
    await daemon.stop();
    write(path, "a.txt", "2\n");
    const note = { attempt: 1, subject: "one", journalHead: "x" };
    await expect(hasty.work.keep(STORY, note)).rejects.toMatchObject({ code: "forge-unreachable" });
    await daemon.start();
    expect(fleet.file((await hasty.work.keep(STORY, note)).commit, "a.txt")).toBe("2\n");
  });

  test("a repository that is hidden, and one that is read-only", async () => {
    const other = daemon.address.replace("shared", "other");
    expect(await refusal({ remote: other })).toMatchObject({ code: "not-a-repository" });
    fleet.git("config", "daemon.receivepack", "false");
    const one = await fleet.machine("one", { remote: daemon.address });
    fleet.journal.begin(STORY);
    await one.work.prepare(STORY);
    const kept = one.work.keep(STORY, { attempt: 1, subject: "one", journalHead: "x" });
    // A git daemon reports both in the same way, so Remand does too.
    await expect(kept).rejects.toThrow(/access is denied/);
  });
});

test("over SSH, with the command that the environment names", async () => {
  const { home, env } = fleet.origin;
  // Called like the real ssh: with options, the host, and the remote command.
  write(home, "bin/far", `#!/bin/sh\necho "$*" >>"${home}/asked"\nfor last; do :; done\nexec sh -c "$last"\n`);
  chmodSync(join(home, "bin/far"), 0o755);
  const remote = `ssh://git@far.example${fleet.bare}`;
  const one = await fleet.machine("one", { remote, env: { ...env, GIT_SSH_COMMAND: join(home, "bin/far") } });
  const { commit } = await one.attempt(STORY, 1, { "a.txt": "1\n" });
  expect(fleet.file(commit, "a.txt")).toBe("1\n");
  expect(one.clone.remote.address).toBe(remote);
  expect(readFileSync(join(home, "asked"), "utf8")).toContain("git@far.example git-receive-pack");
});

describe("over HTTP, with a login", () => {
  test("the login is used, and is visible nowhere", async () => {
    const server = await gitOverHttp(fleet.origin.home, { user: "worker-7", password: "s3cret/t0ken" });
    const remote = `http://worker-7:s3cret%2Ft0ken@127.0.0.1:${server.port}/shared.git`;
    fleet.git("config", "http.receivepack", "true");
    const one = await fleet.machine("one", { remote });
    const { commit } = await one.attempt(STORY, 1, { "a.txt": "1\n" });
    expect(fleet.file(commit, "a.txt")).toBe("1\n");
    expect(one.clone.remote.address).toBe(`http://127.0.0.1:${server.port}/shared.git`);
    const config = gitIn(one.clone.root, fleet.origin.env, "config", "--list");
    expect(config).not.toMatch(/s3cret|worker-7/);
    expect(config).toContain(`remote.origin.url=${one.clone.remote.address}`);
    const wrong = await refusal({ remote: remote.replace("t0ken", "wr0ng") });
    expect(wrong).toMatchObject({ code: "forge-refused" });
    expect(JSON.stringify({ ...wrong, text: `${wrong.message}${wrong.hint}` })).not.toMatch(/s3cret|wr0ng|worker-7/);
    server.deny(503);
    expect(await refusal({ remote })).toMatchObject({ code: "forge-unreachable" });
    server.deny(403);
    expect(await refusal({ remote })).toMatchObject({ code: "forge-refused" });
    server.deny(404);
    expect(await refusal({ remote })).toMatchObject({ code: "not-a-repository" });
    await server.close();
  });
});
