import { withIdentity, type EventAuthor } from "../core/events/authority.ts";
import { RemandError } from "../core/events/error.ts";
import type { AnsweredComment } from "../core/events/event.ts";
import { identifyFinding } from "../core/gates/finding-identity.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { Forge, ForgeComment } from "../ports/forge.ts";
import { redactSecrets } from "../parse/secrets/secrets.ts";
import { entries } from "../stdx/sorted-map.ts";
import type { Ledger } from "./ledger.ts";

export interface ReadCommentsOptions {
  readonly ledger: Ledger;
  readonly forge: Forge;
  /** The stories to ask the forge about; `null`: all. */
  readonly only: ReadonlySet<StoryId> | null;
  /** Accounts of people, from the user's own settings. */
  readonly people: readonly string[];
  /** Called if a forge cannot be asked. The work continues without it. */
  onNotice(text: string): void;
}

/**
 * Sends stories back for comments on their open pull requests that ask for changes, as if those people had answered
 * here. Each comment is used once; the journal records which were. Returns whether anything was new.
 */
export async function readComments(
  { ledger, forge, only, people, onNotice }: ReadCommentsOptions,
  signal: AbortSignal,
): Promise<boolean> {
  let isNew = false;
  for (const { story, delivered } of proposedStories(ledger, only)) {
    if (signal.aborted) break;
    try {
      const asked = await askedOn(forge, delivered, signal);
      const known = new Set(ledger.story(story.id).heard);
      const unread = asked.filter(({ id }) => !known.has(id));
      if (unread.length === 0) continue;
      const author = await authorOf(unread, { forge, people }, signal);
      isNew = (await sentBack(ledger, story.id, delivered, unread, author)) || isNew;
    } catch (error) {
      if (!(error instanceof RemandError) || !error.code.startsWith("forge-")) throw error;
      if (!signal.aborted) onNotice(`comments on pull requests were not read: ${error.message}`);
      break;
    }
  }
  return isNew;
}

/** Returns stories whose pull request waits to be merged, the newest first. */
function proposedStories(
  ledger: Ledger,
  only: ReadCommentsOptions["only"],
): (StoryState & { readonly delivered: string })[] {
  const found: (StoryState & { readonly delivered: string })[] = [];
  for (const [id, state] of entries(ledger.state().stories)) {
    const { delivered, ending } = state;
    if (ending?.how !== "accepted" || delivered === null || !/^https?:/.test(delivered)) continue;
    if (only === null || only.has(id)) found.push({ ...state, delivered });
  }
  return found.sort((a, b) => b.ending!.at - a.ending!.at).slice(0, MOST_ASKED);
}

/** A limit, because each pull request costs a few requests. */
const MOST_ASKED = 50;

async function askedOn(forge: Forge, url: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
  const pullRequest = await forge.pullRequestAt(url, signal);
  if (pullRequest === null || !pullRequest.isOpen) return [];
  return (await forge.commentsOn(pullRequest, signal)).filter(({ asksForChanges }) => asksForChanges);
}

/**
 * Returns how the author is known. Identified: accounts that the user lists, that may write to the repository, and that
 * are not the engine's own, whose login agents may know. One comment of another account makes all of them a claim.
 */
async function authorOf(
  comments: readonly ForgeComment[],
  { forge, people }: Pick<ReadCommentsOptions, "forge" | "people">,
  signal: AbortSignal,
): Promise<EventAuthor> {
  const accounts = [...new Set(comments.map(({ by }) => by))];
  const known = new Set(people.map((each) => each.toLowerCase()));
  const stranger = accounts.find((account) => !known.has(account.toLowerCase()));
  if (stranger !== undefined) return { type: "claim", why: `${stranger} is not among the user's people` };
  const own = (await forge.ownAccount(signal))?.toLowerCase() ?? null;
  for (const account of accounts) {
    if (account.toLowerCase() === own) return { type: "claim", why: `${account} is the engine's own account` };
    if (!(await forge.canWrite(account, signal)))
      return { type: "claim", why: `${account} may not write to the repository` };
  }
  return { type: "person", identity: "forge" };
}

async function sentBack(
  ledger: Ledger,
  story: StoryId,
  url: string,
  comments: readonly ForgeComment[],
  author: EventAuthor,
): Promise<boolean> {
  const by = [...new Set(comments.map((comment) => nameOf(comment)))].slice(0, 5).join(", ");
  const message = `${comments.length === 1 ? "a comment" : `${comments.length} comments`} on ${url}`;
  const answer = {
    verb: "send-back",
    by,
    message,
    escalation: null,
    comments: comments.map(toAnsweredComment),
  } as const;
  return ledger.append(story, withIdentity(author, [{ type: "person.answered", answer }]));
}

/**
 * Converts a comment to a finding. Its text is untrusted, like any reviewer's: the brief never shows it as an
 * instruction.
 */
function toAnsweredComment(comment: ForgeComment): AnsweredComment {
  const { id, path, line } = comment;
  const said = redactSecrets(comment.text).text.trim().slice(0, LONGEST_COMMENT);
  const [first = "", ...rest] = said.split(/\r?\n/);
  const detail = rest.join("\n").trim();
  const finding = identifyFinding({
    severity: "major",
    category: "review-comment",
    message: first === "" ? "changes are requested" : first,
    source: nameOf(comment),
    ...(detail === "" ? {} : { detail }),
    ...(path === null ? {} : { file: path }),
    ...(line === null ? {} : { line }),
  });
  return { id, finding };
}

const LONGEST_COMMENT = 8000;

const nameOf = ({ by }: ForgeComment): string => by.replaceAll(/[^\w.[\]-]/g, "").slice(0, 40) || "unknown";
