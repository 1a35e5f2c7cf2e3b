/**
 * How an agent ended, kept by its key until the journal has it. A crash between the two would otherwise
 * make an agent that has finished work once more.
 */
export interface Outbox {
  /** Resolves when the text would survive a crash. It takes the place of what the key had before. */
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
  /** After a crash it may be there again: the journal has it by then, so nobody asks for it. */
  drop(key: string): Promise<void>;
}
