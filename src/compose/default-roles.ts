import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AgentFile } from "../domain/agent-file.ts";
import { readAgentFile } from "../readers/agent-file.ts";

/** The role as it is shipped, in the form of the files that people have; `null` where there is none of that name. */
export async function defaultRole(role: string): Promise<AgentFile | null> {
  if (!NAME.test(role)) return null;
  const path = fileURLToPath(new URL(`../../plugin/roles/${role}.md`, import.meta.url));
  try {
    return readAgentFile(path, await readFile(path, "utf8")).agent;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A role's name is a person's word, and becomes part of a path here. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
