import { isAbsolute, join } from "node:path";
import type { Config } from "../config/config.ts";
import type { StoredEvent } from "../ports/journal.ts";
import type { DayMetrics } from "../views/board/cost.ts";
import { trailOf } from "../views/story/trail.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { instant, jsonText } from "../stdx/canonical-json.ts";
import {
  writeEscalationRecord,
  writeFailedTasks,
  writeLocationTracking,
  writeReworkLog,
} from "../write/reports/rework-log.ts";
import type { World } from "./command.ts";
import { linesOf } from "./with-journal.ts";

/** The files of the trail (path below its folder → text). The same journal gives the same bytes. */
export function trailFiles(lines: readonly StoredEvent[], run: RunState): Map<string, string> {
  const trail = trailOf(lines, run);
  const files = new Map<string, string>();
  for (const { story, records } of trail.reworks)
    files.set(`slices/${story}/rework-log.json`, writeReworkLog(story, records));
  for (const { story, at, escalation, context, answers } of trail.escalations) {
    const name = `${instant(at).replaceAll(":", "-")}-${escalation.id}`;
    files.set(`escalations/${name}.json`, writeEscalationRecord(escalation, story ?? "project", at, context, answers));
  }
  files.set("failed-tasks.json", writeFailedTasks(trail.failed));
  files.set("locations.json", writeLocationTracking(trail.locations));
  files.set("metrics/daily-summary.json", jsonText({ days: trail.days.map(dayOf) }));
  return files;
}

/**
 * Updates the trail from the journal. Returns the files that were written: those that are up to date are left alone.
 */
export async function writeTrail(
  world: Pick<World, "cwd" | "files" | "host">,
  config: Pick<Config, "trail">,
): Promise<readonly string[]> {
  const view = await world.host.openView(world.cwd);
  if (view === null) return [];
  try {
    const written: string[] = [];
    const made = trailFiles(await linesOf(view, null), view.state);
    // Receipts are signed byte for byte, so they must not be redacted again. They come from the journal, which holds no
    // secrets.
    const receipts = await world.host.receiptFiles(world.cwd);
    for (const [path, text] of [...cleaned(world, made), ...receipts]) {
      const full = join(trailFolder(world, config), path);
      if ((await world.files.read(full)) === text) continue;
      await world.files.write(full, text);
      written.push(path);
    }
    return written;
  } finally {
    await view.close();
  }
}

/** Redacts the text of each file. */
const cleaned = ({ host }: Pick<World, "host">, files: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...files].map(([path, text]) => [path, host.clean(text)]));

export function trailFolder(world: Pick<World, "cwd">, { trail }: Pick<Config, "trail">): string {
  return isAbsolute(trail) ? trail : join(world.cwd, trail);
}

function dayOf(day: DayMetrics): object {
  return {
    date: day.date,
    attempts: day.attempts,
    reworks: day.reworks,
    sent_back: day.sentBack,
    accepted: day.accepted,
    failed: day.failed,
    escalations: day.escalations,
    answers: day.answers,
    cost_usd: day.costUsd,
    cost_complete: !day.costUnknown,
    agent_seconds: Math.round(day.agentMs / 1000),
    gates: day.judgements,
  };
}
