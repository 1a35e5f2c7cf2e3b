import { defineConfig } from "vitest/config";

/** Makes a project of each stack, with its own package manager, and runs its check in a clean checkout: minutes, and a network. */
export default defineConfig({
  test: {
    include: ["test/stacks/*.stacks.ts"],
    globalSetup: "scripts/build.js",
    testTimeout: 15 * 60_000,
    hookTimeout: 10 * 60_000,
    maxWorkers: 1,
    reporters: ["verbose"],
  },
});
