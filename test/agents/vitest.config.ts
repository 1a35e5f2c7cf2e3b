import { defineConfig } from "vitest/config";

/** `npm run test:agents`: the real clients against a model on loopback. Not part of `npm test`: it installs them. */
export default defineConfig({
  test: {
    name: "agents",
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/agents/*.agents.ts"],
    globalSetup: ["test/agents/installed-clients.ts", "scripts/build.js", "test/agents/network.ts"],
    setupFiles: "test/identified.ts",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
