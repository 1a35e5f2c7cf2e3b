import type { Event } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Journal, StoredEvent } from "../ports/journal.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { SecretRules } from "../parse/secrets/secrets.ts";
import type { HealthDocument, VerifyDocument } from "../views/board/dashboard.ts";

/** What the server asks of the world. It owns nothing: another process may run the engine. */
export interface DashboardSource {
  /** The name of the project, for the top of the page. */
  readonly project: string;
  readonly version: string;
  /** Whose word an answer is. */
  readonly by: string;
  readonly readOnly: boolean;
  /** What is never sent, beyond the well-known patterns. */
  readonly secrets: SecretRules;
  /** The built pages, by their address. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** `null` while nothing has run here. */
  openView(): Promise<RunView | null>;
  appendEvents(stream: StoryId | null, events: readonly Event[]): Promise<void>;
  verify(): Promise<VerifyDocument | null>;
  health(): Promise<HealthDocument>;
  /** Where the story's files are, if they are there. */
  placeOf(story: StoryId): string | null;
  now(): number;
}

/** A look at the journal that stays open. */
export interface RunView {
  readonly state: RunState;
  readonly journal: Pick<Journal, "head" | "watch">;
  readonly evidence: Pick<Evidence, "read">;
  lines(after: number): AsyncIterable<StoredEvent>;
  workspace(): Promise<Pick<Workspace, "diff">>;
  close(): Promise<void>;
}

export interface Asset {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
