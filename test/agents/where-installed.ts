import { describe, expect, test } from "vitest";
import { clientVersion, isInstalled, type ClientName } from "./installed-clients.ts";

/** For the normal tests: runs the real client where it is installed; otherwise prints that it is missing. */
export async function whereInstalled(needs: readonly ClientName[], load: () => Promise<unknown>): Promise<void> {
  const missing = needs.filter((client) => !isInstalled(client));
  if (missing.length === 0) return void (await load());
  const words = `NOT RUN: ${missing.map((client) => `${client} ${clientVersion(client)}`).join(", ")} not installed`;
  console.warn(`\n${words}, so the real client was not tried; npm run test:agents installs and tries it.\n`);
  describe("the real client", () => {
    test.skipIf(missing.length > 0)(words, () => {
      expect(missing).toEqual([]);
    });
  });
}
