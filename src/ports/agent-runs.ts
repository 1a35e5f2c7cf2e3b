import type { StoryId } from "../core/events/ids.ts";

/** The agents' programs that outlive the engine. A dispatch is named by the key of its requests. */
export interface AgentRuns {
  /** Does a program of this dispatch still run, or has it ended with a result? One that is being started is waited for. */
  has(key: string): Promise<boolean>;
  /** Ends the programs of this dispatch that still run. The results of those that ended stay. */
  endUnfinished(key: string): Promise<void>;
  /** The results of a story's dispatches are in the journal or unwanted: ends what still runs, and removes its files. */
  drop(story: StoryId | null): Promise<void>;
  /** The same for all dispatches but these. */
  dropAllBut(keys: ReadonlySet<string>): Promise<void>;
}
