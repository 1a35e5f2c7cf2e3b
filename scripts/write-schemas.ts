/**
 * Writes the JSON Schemas of everything that Remand stores and sends into the folder `schema`, and the page that lists
 * the keys of a config: `npm run schemas`.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configPage } from "./config-page.ts";
import { schemaFiles } from "./published-schemas.ts";

// This file runs compiled, from `.build/scripts`.
const folder = fileURLToPath(new URL("../../schema/", import.meta.url));
const files = schemaFiles();

mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(folder + name);
for (const [name, text] of files) writeFileSync(folder + name, text);
writeFileSync(
  fileURLToPath(new URL("../../docs/guide/config-keys.md", import.meta.url)),
  configPage(files.get("config.json")!),
);
console.log(`wrote ${[...files.keys()].join(", ")}, config-keys.md`);
