import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clone } from "../../../src/compose/worker/worker.ts";
import { makeRepository } from "../../kit/git-repository.ts";
import { gitDaemon } from "../../kit/fleet/shared-machines.ts";

test("a worker reports an unreachable remote once, and waits for it or for a signal", async () => {
  const { home, git, env } = makeRepository({ "a.txt": "a\n" });
  git("clone", "--quiet", "--bare", ".", join(home, "shared.git"));
  const daemon = await gitDaemon(join(home, "shared.git"), env);
  try {
    await daemon.stop();
    const [waits, leaves] = ["waits", "leaves"].map((name) => {
      const said: string[] = [];
      const stop = new AbortController();
      const plan = { remote: daemon.address, folder: join(home, name), branch: null, signal: stop.signal };
      return { said, stop, opened: clone({ ...plan, onNotice: (text) => said.push(text) }) };
    });
    const refused = leaves!.opened.then(
      () => "opened",
      (error: unknown) => String(error),
    );
    await expect.poll(() => [waits!.said.length, leaves!.said.length], { timeout: 60_000 }).toEqual([1, 1]);
    leaves!.stop.abort();
    expect(await refused).toContain("cannot be reached");
    await daemon.start();
    const cloned = await waits!.opened;
    expect(existsSync(join(cloned.root, "a.txt"))).toBe(true);
    expect(waits!.said).toEqual([expect.stringMatching(/cannot be reached.*retrying$/s)]);
    await cloned.close();
  } finally {
    await daemon.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
