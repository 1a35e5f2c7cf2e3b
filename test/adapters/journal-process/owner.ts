/** A process that takes a journal's lock and keeps it until it is killed. `owner <file> <command>` */
import { writeSync } from "node:fs";
import { takeOwnership } from "../../../src/adapters/journal/ownership.ts";

const [file = "", command = ""] = process.argv.slice(2);
const taken = await takeOwnership(file, command);
writeSync(1, `${JSON.stringify("heldBy" in taken ? taken : { holder: taken.holder })}\n`);
if ("holder" in taken) setInterval(() => {}, 1000);
