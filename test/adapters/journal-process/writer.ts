/**
 * A process that appends to a journal until it is killed, and prints each line's position after it is acknowledged.
 * `writer <file or address> <name> <streams>`
 */
import { writeSync } from "node:fs";
import { createSqliteJournal } from "../../../src/adapters/journal/sqlite-journal.ts";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { storyId, type StoryId } from "../../../src/core/events/ids.ts";

const [file = "", name = "", streams = "1"] = process.argv.slice(2);
const journal = await (file.startsWith("postgres://")
  ? createPostgresJournal(file, { openPatienceMs: 30_000 })
  : createSqliteJournal(file));

const seqs = new Map<StoryId | null, number>();
for await (const line of journal.read(0)) seqs.set(line.story, line.seq);

/** Half of the streams belong to this writer, the others are contested. */
async function write(stream: StoryId): Promise<never> {
  let seq = seqs.get(stream) ?? 0;
  for (let i = 0; ; i++) {
    const by = `${name} ${process.pid} ${i}`;
    const appended = await journal.append(
      stream,
      seq,
      [
        { type: "story.started", by },
        { type: "story.held", by },
      ],
      i,
    );
    if (appended.ok) {
      const [first, second] = appended.stored;
      // Write synchronously and unbuffered, so that every acknowledged line is printed.
      writeSync(1, `${first!.position} ${first!.hash}\n${second!.position} ${second!.hash}\n`);
      seq += 2;
    } else {
      seq = appended.conflict.actual;
    }
  }
}

await Promise.all(
  Array.from({ length: Number(streams) }, (_, i) => write(storyId(i % 2 === 0 ? `${name}-${i}` : `shared-${i}`))),
);
