import type { sessionSchema, Stored } from "../schemas/scalars.ts";

/** A string that only one maker may make: an id of one thing cannot be passed where another's is wanted. */
export type Branded<Name extends string> = string & { readonly __brand: Name };

export type StoryId = Branded<"StoryId">;
export type EscalationId = Branded<"EscalationId">;
export type Fingerprint = Branded<"Fingerprint">;
/** A git tree (or, for a phase whose product is text, the hash of that text): what exactly was judged. */
export type TreeId = Branded<"TreeId">;
export type EvidenceId = Branded<"EvidenceId">;
/** The name of an agent's part: `developer`, `critic`, a specialist. Roles are files, so the set is open. */
export type RoleName = Branded<"RoleName">;

export const storyId = (text: string): StoryId => text as StoryId;
export const escalationId = (text: string): EscalationId => text as EscalationId;
export const fingerprint = (text: string): Fingerprint => text as Fingerprint;
export const treeId = (text: string): TreeId => text as TreeId;
export const evidenceId = (text: string): EvidenceId => text as EvidenceId;
export const roleName = (text: string): RoleName => text as RoleName;

/** Stands where a reviewer would, for what the engine ran itself. */
export const ENGINE_ROLE: RoleName = roleName("engine");

/** What an id may look like: it becomes a file name and a branch name, and stands on a signal's line. */
export const STORY_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Why a text that looks like an id cannot be one, or `null`. Git refuses some names of branches, and `HEAD` would be
 * taken for git's own. Journals of before may hold such ids, so the pattern itself still allows them.
 */
export function storyIdFault(id: string): string | null {
  if (!STORY_ID_PATTERN.test(id))
    return "an id has letters, digits, `.`, `_` and `-`, and begins with one of the first two";
  if (id.toUpperCase() === "HEAD") return "git uses `HEAD` for the commit that is checked out";
  if (/\.lock$/i.test(id)) return "git refuses branches whose names end in `.lock`";
  if (id.includes("..")) return "git refuses branches with `..` in their names";
  if (id.endsWith(".")) return "git refuses branches whose names end in `.`";
  return null;
}

/** A conversation with an agent that can be resumed. */
export type AgentSession = Stored<typeof sessionSchema>;
