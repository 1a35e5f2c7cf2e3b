import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { missingSandbox } from "../../kit/sandbox.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** An account that owns nothing. */
const ACCOUNT = 65_534;

const asUser = (command: readonly string[], env: NodeJS.ProcessEnv) =>
  spawnSync("setpriv", [`--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, "--clear-groups", ...command], {
    cwd: root,
    env,
    encoding: "utf8",
  });

function reasonToSkip(): string | null {
  if (process.getuid?.() !== 0) return "the tests beside this one are run by an ordinary user already";
  const reads = asUser(["test", "-r", "package.json"], { PATH: PROGRAMS });
  return reads.status === 0 ? missingSandbox() : "an ordinary user cannot read this folder, or setpriv is missing";
}

/** Only folders that every user can search. */
const PROGRAMS = `/usr/bin:/bin:${dirname(process.execPath)}`;

const skipped = reasonToSkip();

test.skipIf(skipped !== null)(
  `the sandbox holds for an ordinary user too${skipped === null ? "" : ` (${skipped})`}`,
  () => {
    const home = mkdtempSync(join(tmpdir(), "remand-ordinary-user-"));
    try {
      chownSync(home, ACCOUNT, ACCOUNT);
      const vitest = join(root, "node_modules/vitest/vitest.mjs");
      const { status, stdout, stderr } = asUser(
        [
          process.execPath,
          vitest,
          "run",
          "--configLoader=runner",
          "--project=quick",
          "test/adapters/sandbox/bubblewrap",
        ],
        { PATH: PROGRAMS, HOME: home, NO_COLOR: "1" },
      );
      expect(`${stdout}${stderr}`).toContain("bubblewrap.test.ts");
      expect(status, `${stdout}${stderr}`).toBe(0);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
