import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { schemaFiles } from "../../scripts/published-schemas.ts";

const folder = new URL("../../schema/", import.meta.url);

test("the committed schemas are the ones the code makes (if not: npm run schemas)", () => {
  const committed = readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), "utf8")] as const);
  expect(new Map(committed)).toEqual(new Map(schemaFiles()));
});

test.each([...schemaFiles()])("%s says what it describes and refuses keys it does not know", (_name, text) => {
  const schema = JSON.parse(text) as Record<string, unknown>;
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    additionalProperties: false,
  });
  expect(schema["description"]).toMatch(/\.$/);
});
