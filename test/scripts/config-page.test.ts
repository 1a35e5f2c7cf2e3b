import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configPage } from "../../scripts/config-page.ts";
import { schemaFiles } from "../../scripts/published-schemas.ts";

const page = configPage(schemaFiles().get("config.json")!);

test("the committed page of config keys matches the schema (if not: npm run schemas)", () => {
  expect(readFileSync(new URL("../../docs/guide/config-keys.md", import.meta.url), "utf8")).toBe(page);
});

test.each([
  "| `limits.run.costUsd` | number |",
  "| `gates.<gate>.commands[].timeout` | text |",
  "| `agents.<name>.use` | `claude`, `codex`,",
  "| `sandbox.network` | `shared`, `none` | `shared` |",
])("it has the row %s", (row) => {
  expect(page).toContain(`\n${row}`);
});
