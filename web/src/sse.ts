/** One server-sent event. */
export interface SentEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads a stream to its end, and passes on the events of each chunk. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvents: (events: readonly SentEvent[]) => void,
): Promise<void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop() ?? "";
    onEvents(blocks.map(eventIn));
  }
}

function eventIn(block: string): SentEvent {
  const field = (name: string): string | undefined =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return { name: field("event") ?? "", id: field("id"), data: field("data") ?? "" };
}
