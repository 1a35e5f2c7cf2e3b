import { join } from "node:path";
import { countText, plainText } from "../stdx/plain-text.ts";
import { EXIT, type ExitCode, type World } from "../app/command.ts";
import { type SessionRecord, readSessionRecord } from "../app/stop-hook.ts";

/**
 * How the conversations stand that asked whether they may stop. A client can let its agent stop though it was held
 * back; then the record says `held`, and this is no success.
 */
export async function printSessions(world: World, isJson: boolean): Promise<ExitCode> {
  const sessions: SessionRecord[] = [];
  for (const file of await world.files.list(join(world.cwd, ".remand", "hooks"), ".json")) {
    const record = recordIn(await world.files.read(file));
    if (record === null) world.err(`remand: ${file} is no record of a conversation\n`);
    else sessions.push(record);
  }
  sessions.sort((a, b) => a.at - b.at);
  if (isJson) world.out(`${JSON.stringify({ schema: "remand.hook-status/1", sessions }, null, 2)}\n`);
  else if (sessions.length === 0) world.out("No conversation has asked whether it may stop.\n");
  else for (const each of sessions) world.out(lineOf(each));
  return sessions.every(({ standing }) => standing === "passed" || standing === "begun") ? EXIT.ok : EXIT.rejected;
}

function lineOf({ session, standing, why, blocks }: SessionRecord): string {
  const word = {
    begun: "begun",
    passed: "passed",
    held: "sent back, not passed since",
    released: "released, not passed",
  }[standing];
  return plainText(`${session}  ${word} (held back ${countText(blocks, "time")})  ${why}`).replaceAll("\n", " ") + "\n";
}

function recordIn(text: string | null): SessionRecord | null {
  try {
    return readSessionRecord(JSON.parse(text ?? ""));
  } catch {
    return null;
  }
}
