import { defineConfig } from "vitest/config";

/** The quick tests of what is mutated, and the simulation of a few seeds. */
export default defineConfig({
  test: {
    include: [
      "test/policy/**/*.test.ts",
      "test/engine/**/*.test.ts",
      "test/seeds/**/*.test.ts",
      "test/simulation/laws.test.ts",
      "test/simulation/engine.test.ts",
      "test/simulation/fleet.test.ts",
    ],
    // Blame and its proofs are decided elsewhere, and their tests take long; this page is about the documents.
    exclude: [
      "test/policy/{prove-blame,rank-blame*,attribute,review-conflicts}.test.ts",
      "test/seeds/sources-page.test.ts",
    ],
    setupFiles: ["test/property-seed.ts"],
    env: { REMAND_SEEDS: "4", REMAND_WALKS: "60" },
    // One world for all files: they keep nothing in it, and loading everything again for each costs more than the tests.
    isolate: false,
    testTimeout: 120_000,
  },
});
