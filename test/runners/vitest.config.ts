import { defineConfig } from "vitest/config";

/** Installs test runners of several versions below `node_modules/.cache` and runs them: minutes, and a network. */
export default defineConfig({
  test: {
    include: ["test/runners/*.runners.ts", "test/runners/*.test.ts"],
    testTimeout: 10 * 60_000,
    hookTimeout: 10 * 60_000,
    maxWorkers: 1,
    reporters: ["verbose"],
  },
});
