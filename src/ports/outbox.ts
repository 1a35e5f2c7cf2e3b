/**
 * How an agent ended, kept by its key until the journal has it. A crash between the two would otherwise
 * make an agent that has finished work once more.
 */
export interface Outbox {
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
  drop(key: string): Promise<void>;
}
