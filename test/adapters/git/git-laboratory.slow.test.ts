import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createExperimentRunner } from "../../../src/adapters/git/experiment-runner.ts";
import { runProcess } from "../../../src/adapters/process/run-process.ts";
import type { ExperimentCheckout, ExperimentRunner } from "../../../src/ports/experiment-runner.ts";
import { canMount } from "./can-mount.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";

/** Written files, and mounted files if the machine allows it. */
describe.each([["written", false], ...((await canMount()) ? [["mounted", true] as const] : [])] as const)(
  "%s",
  (_how, mount) => {
    let repository: TestRepository;
    let experimentRunner: ExperimentRunner;
    let bench: ExperimentCheckout;
    const open = (): Promise<ExperimentCheckout> => experimentRunner.open({ signal: new AbortController().signal });

    beforeEach(async () => {
      repository = makeRepository({
        "a.txt": "one\n",
        "run.sh": "echo 1\n",
        "sub/b.txt": "b\n",
        ".gitignore": "cache/\n",
      });
      repository.git("update-index", "--chmod=+x", "run.sh");
      repository.git("commit", "--quiet", "-m", "a script");
      const { root, env } = repository;
      experimentRunner = createExperimentRunner({ root, setup: null, share: [], env, mount });
      bench = await open();
    });

    afterEach(async () => {
      await bench.close();
      repository.clear();
    });

    const text = (path: string): string => readFileSync(join(bench.path, path), "utf8");

    test("has the files of a tree, with other texts where requested", async () => {
      const texts = new Map([
        ["a.txt", "ONE\n"],
        ["sub/b.txt", null],
        ["new/c.txt", "c\n"],
        ["run.sh", "echo 2\n"],
      ]);
      const tree = await bench.set("HEAD", texts);
      expect([text("a.txt"), text("new/c.txt"), text("run.sh")]).toEqual(["ONE\n", "c\n", "echo 2\n"]);
      expect(existsSync(join(bench.path, "sub/b.txt"))).toBe(false);
      expect(statSync(join(bench.path, "run.sh")).mode & 0o111).not.toBe(0);
      expect(await bench.set("HEAD", texts)).toBe(tree);
      expect(await bench.set("HEAD", new Map())).toBe(repository.git("rev-parse", "HEAD^{tree}").trim());
      expect([text("a.txt"), text("sub/b.txt")]).toEqual(["one\n", "b\n"]);
    });

    test("has none of the previous run's leftovers, but keeps ignored files", async () => {
      writeFileSync(join(bench.path, "left.txt"), "x");
      mkdirSync(join(bench.path, "cache"));
      writeFileSync(join(bench.path, "cache/kept"), "x");
      writeFileSync(join(bench.path, "a.txt"), "changed by a run\n");
      await bench.set("HEAD", new Map());
      expect(existsSync(join(bench.path, "left.txt"))).toBe(false);
      expect(existsSync(join(bench.path, "cache/kept"))).toBe(true);
      expect(text("a.txt")).toBe("one\n");
    });

    test("touches nothing of a person's, in use or when killed", async () => {
      repository.write("a.txt", "my own\n");
      const before = repository.standing();
      const status = repository.git("status", "--porcelain");
      await bench.set("HEAD", new Map([["a.txt", "x"]]));
      expect(repository.standing()).toEqual(before);
      expect(repository.git("status", "--porcelain")).toBe(status);
      expect(repository.git("stash", "list")).toBe("");
      await bench.close();
      expect(repository.standing()).toEqual(before);
    });

    test("is removed if its process was killed", async () => {
      const folder = join(bench.path, "../..");
      const left = join(folder, "runs/7");
      mkdirSync(join(left, ".git"), { recursive: true });
      // No process has this id: it is larger than the kernel's maximum.
      writeFileSync(join(folder, "slots/7"), "99999999");
      const other = await open();
      expect(existsSync(left)).toBe(false);
      expect(readdirSync(join(folder, "runs"))).toEqual(["0", "1"]);
      await other.close();
    });

    test("reports tracked files that a run wrote, even with their old time restored", async () => {
      const file = join(bench.path, "a.txt");
      const { atime, mtime } = statSync(file);
      const { exitCode } = await runProcess({
        command: "echo TWO > a.txt; rm sub/b.txt; echo x > untracked",
        cwd: bench.path,
        env: repository.env,
        timeoutMs: 60_000,
        sandbox: null,
      });
      utimesSync(file, atime, mtime);
      expect(exitCode).toBe(0);
      expect((await bench.writtenPaths!()).toSorted()).toEqual(["a.txt", "sub/b.txt"]);
    });

    test("runs a check in the folder that the engine sees", async () => {
      const ran = await runProcess({
        command: ["sh", "-c", "pwd; git status --porcelain; id -u; echo made > made.txt"],
        cwd: join(bench.path, "sub"),
        env: repository.env,
        timeoutMs: 60_000,
        sandbox: null,
      });
      expect(ran.output.split("\n").slice(0, 2)).toEqual([join(bench.path, "sub"), String(process.getuid!())]);
      expect(text("sub/made.txt")).toBe("made\n");
    });

    test("keeps a link of the base that leads out, and removes a new one", async () => {
      symlinkSync("/tmp", join(repository.root, "old"));
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "-m", "old link");
      const base = repository.git("rev-parse", "HEAD").trim();
      symlinkSync("old", join(repository.root, "new"));
      symlinkSync("sub/b.txt", join(repository.root, "inner"));
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "-m", "new link");
      const other = await experimentRunner.open({ signal: new AbortController().signal, commit: "HEAD", base });
      expect(readdirSync(other.path)).toEqual(expect.arrayContaining(["old", "inner"]));
      expect(readdirSync(other.path)).not.toContain("new");
      expect([other.text("old/x"), other.text("inner")]).toEqual([null, "b\n"]);
      await other.close();
    });

    test("keeps build caches of the base for the next build, and not those of the work", async () => {
      const request = { signal: new AbortController().signal, commit: "HEAD", base: "HEAD" };
      const build = async (where: ExperimentCheckout, says: string): Promise<string> => {
        const command = `cat cache/built; mkdir -p cache; echo 'Signature: 8a477f597d28d172789f06886806bc55' > cache/CACHEDIR.TAG; echo ${says} >> cache/built; find . -newer cache/built -name '*.txt'`;
        const ran = await runProcess({
          command,
          cwd: where.path,
          env: repository.env,
          timeoutMs: 60_000,
          sandbox: null,
        });
        return ran.stdout;
      };
      const agents = await experimentRunner.open({ ...request, isForAgent: true });
      await build(agents, "an agent");
      await agents.close();
      const first = await experimentRunner.open(request);
      expect(await build(first, "base")).toBe("");
      await first.close();
      const kept = mount ? "base\n" : "";
      repository.write("a.txt", "changed\n");
      repository.git("commit", "--quiet", "-am", "work");
      const work = { ...request, base: "HEAD~1" };
      for (const says of ["work", "work again"]) {
        const checkout = await experimentRunner.open(work);
        // The changed file is newer than the cache; the others are not.
        const time = statSync(join(checkout.path, "a.txt")).mtimeMs;
        expect(statSync(join(checkout.path, "sub/b.txt")).mtimeMs < time).toBe(mount);
        expect(await build(checkout, says)).toBe(kept);
        await checkout.close();
      }
    });

    test("has a git state that matches the work's files, without changes", async () => {
      const tracked = { "a.txt": "one\n", "sub/b.txt": "b\n", "sub/deep/c.txt": "c\n", "folder/d.txt": "d\n" };
      for (const [path, body] of Object.entries(tracked)) repository.write(path, body);
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "-m", "base");
      repository.git("rm", "--quiet", "-r", "sub/deep", "folder", "run.sh");
      const changed = {
        "a.txt": "changed\n",
        folder: "a file now\n",
        "run.sh/new.txt": "a folder now\n",
        "-new": "x\n",
      };
      for (const [path, body] of Object.entries(changed)) repository.write(path, body);
      symlinkSync("a.txt", join(repository.root, "link"));
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "-m", "work");
      const work = { signal: new AbortController().signal, commit: "HEAD", base: "HEAD~1" };
      const checkout = await experimentRunner.open(work);
      try {
        const git = async (args: string): Promise<string> => {
          const { path: cwd } = checkout;
          const ran = await runProcess({
            command: `git ${args}`,
            cwd,
            env: repository.env,
            timeoutMs: 60_000,
            sandbox: null,
          });
          return ran.stdout + ran.stderr;
        };
        // The first two trust the sizes and times in the index, and do not read the files.
        for (const args of ["diff-files", "diff-index HEAD", "status --porcelain"]) expect(await git(args)).toBe("");
        expect(await git("ls-files --stage")).toBe(repository.git("ls-files", "--stage"));
        expect(await git("write-tree")).toBe(repository.git("rev-parse", "HEAD^{tree}"));
        expect(await git("fsck --no-dangling")).toBe("");
        expect(await checkout.writtenPaths!()).toEqual([]);
        for (const path of ["a.txt", "sub/b.txt"]) writeFileSync(join(checkout.path, path), "written\n");
        expect(await git("diff --name-only")).toBe("a.txt\nsub/b.txt\n");
        expect([...(await checkout.writtenPaths!())].toSorted()).toEqual(["a.txt", "sub/b.txt"]);
      } finally {
        await checkout.close();
      }
    });

    test("has the checkout's installed packages in every package, with or without a lockfile", async () => {
      repository.write(".gitignore", "node_modules/\ncache/\n");
      repository.write("package.json", '{ "workspaces": ["packages/*"] }\n');
      repository.write("packages/own/index.js", "own\n");
      repository.git("add", "--all");
      repository.git("commit", "--quiet", "-m", "packages");
      const { root, env } = repository;
      repository.write("node_modules/far/index.js", "far\n");
      repository.write("packages/own/node_modules/near/index.js", "near\n");
      symlinkSync("../packages/own", join(root, "node_modules/own"));
      const other = createExperimentRunner({ root, setup: null, share: null, env, mount });
      const place = await other.open({ signal: new AbortController().signal });
      try {
        const read = (path: string): string => readFileSync(join(place.path, path), "utf8");
        expect(read("node_modules/far/index.js")).toBe("far\n");
        expect(read("packages/own/node_modules/near/index.js")).toBe("near\n");
        // A package of the project leads to the version that is tried, not to the person's.
        await place.set("HEAD", new Map([["packages/own/index.js", "tried\n"]]));
        expect(read("node_modules/own/index.js")).toBe("tried\n");
        expect(readFileSync(join(root, "packages/own/index.js"), "utf8")).toBe("own\n");
      } finally {
        await place.close();
      }
      expect(readFileSync(join(root, "node_modules/far/index.js"), "utf8")).toBe("far\n");
    });

    test("has the same path for the same name, and another one if two are open", async () => {
      const named = (): Promise<ExperimentCheckout> =>
        experimentRunner.open({ signal: new AbortController().signal, name: "story/critic" });
      const first = await named();
      writeFileSync(join(first.path, "left.txt"), "x");
      const beside = await named();
      expect(beside.path).not.toBe(first.path);
      await beside.close();
      await first.close();
      expect(existsSync(first.path)).toBe(false);
      // Files of a killed process there are removed.
      mkdirSync(first.path, { recursive: true });
      writeFileSync(join(first.path, "left.txt"), "x");
      writeFileSync(join(first.path, "../../slots", basename(first.path)), "99999999");
      const again = await named();
      expect(again.path).toBe(first.path);
      expect(existsSync(join(again.path, "left.txt"))).toBe(false);
      await again.close();
    });
  },
);
