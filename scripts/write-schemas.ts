/** Writes the JSON Schemas of what Remand stores and sends into the folder `schema`: `npm run schemas`. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { schemaFiles } from "./published-schemas.ts";

// This file runs compiled, from `.build/scripts`.
const folder = fileURLToPath(new URL("../../schema/", import.meta.url));
const files = schemaFiles();

mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(folder + name);
for (const [name, text] of files) writeFileSync(folder + name, text);
console.log(`wrote ${[...files.keys()].join(", ")}`);
