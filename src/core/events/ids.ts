import type { sessionSchema, Stored } from "../schemas/scalars.ts";

/** A string with a brand, so that the id of one thing cannot be passed where another's is wanted. */
export type Branded<Name extends string> = string & { readonly __brand: Name };

export type StoryId = Branded<"StoryId">;
export type EscalationId = Branded<"EscalationId">;
export type Fingerprint = Branded<"Fingerprint">;
/** A git tree: exactly what was judged. For a phase whose product is text, the hash of that text. */
export type TreeId = Branded<"TreeId">;
export type EvidenceId = Branded<"EvidenceId">;
/** The name of a role: `developer`, `critic`, a specialist. Roles are files, so the set is open. */
export type RoleName = Branded<"RoleName">;

export const storyId = (text: string): StoryId => text as StoryId;
export const escalationId = (text: string): EscalationId => text as EscalationId;
export const fingerprint = (text: string): Fingerprint => text as Fingerprint;
export const treeId = (text: string): TreeId => text as TreeId;
export const evidenceId = (text: string): EvidenceId => text as EvidenceId;
export const roleName = (text: string): RoleName => text as RoleName;

/** Takes the place of a reviewer for what the engine ran itself. */
export const ENGINE_ROLE: RoleName = roleName("engine");

/** What an id may look like: it becomes a file name, a branch name and part of a signal's line. */
export const STORY_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Says why a text that looks like an id cannot be one, or returns `null`. Git refuses some branch names, and `HEAD`
 * means git's own ref. Older journals may hold such ids, so the pattern itself still allows them.
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
