/** Something that an agent can call by name. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. The tool checks its own input; clients only show this. */
  readonly inputSchema: object;
  /** Does it only look? */
  readonly isReading: boolean;
  /** Resolves for every input: what is wrong with it comes back as text, so that the model corrects itself. */
  call(input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  /** The same for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Nothing is left to be done: a client may end the turn here. */
  readonly isLast?: boolean;
}
