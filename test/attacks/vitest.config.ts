import { defineConfig } from "vitest/config";

/** Every row through the built program, with the real runners: minutes, and a network for those that npm has. */
export default defineConfig({
  test: {
    include: ["test/attacks/*.attacks.ts"],
    globalSetup: "scripts/build.js",
    setupFiles: "test/identified.ts",
    testTimeout: 10 * 60_000,
    hookTimeout: 10 * 60_000,
    maxWorkers: 2,
    reporters: ["verbose"],
  },
});
