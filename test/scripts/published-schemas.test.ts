import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { schemaFiles } from "../../scripts/published-schemas.ts";

const folder = new URL("../../schema/", import.meta.url);

test("the committed schemas match the code (if not: npm run schemas)", () => {
  const committed = readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), "utf8")] as const);
  expect(new Map(committed)).toEqual(new Map(schemaFiles()));
});

test.each([...schemaFiles()])("%s has a description and refuses unknown keys", (_name, text) => {
  const schema = JSON.parse(text) as Record<string, unknown>;
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    additionalProperties: false,
  });
  expect(schema["description"]).toMatch(/\.$/);
});
