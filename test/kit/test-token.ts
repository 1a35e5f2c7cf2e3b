import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/stdx/sha256.ts";

export const TEST_TOKEN = "rmd_test-token-that-only-hashes-know";

/** Makes it the token of the user whose state is in this folder (`XDG_STATE_HOME`, or `~/.local/state`). */
export function keepTestToken(stateHome: string): void {
  const folder = join(stateHome, "remand");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "token.json");
  const own = `${file}.${process.pid}`;
  const text = JSON.stringify({ schema: "remand.token/1", sha256: sha256(TEST_TOKEN), madeAt: 0 });
  writeFileSync(own, text, { mode: 0o600 });
  renameSync(own, file);
}
