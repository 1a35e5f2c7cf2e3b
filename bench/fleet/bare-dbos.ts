import { DBOS } from "@dbos-inc/dbos-sdk";
import type { Event } from "../../src/core/events/event.ts";
import { processorMs, serverProcessorMs } from "./processor.ts";
import { measureRate, type Rate } from "./rate.ts";
import { startChild, type Child, type Parent } from "./child.ts";

export interface BarePlan {
  readonly url: string;
  readonly processes: number;
  readonly stories: number;
  /** How many run at once in each process. */
  readonly atOnce: number;
  /** The results of a story's steps: the events that Remand would have written. */
  readonly steps: readonly Event[];
}

/** DBOS alone: a workflow per story, a step per event, on a queue that all processes serve. */
export async function bareSteps(plan: BarePlan): Promise<Rate> {
  const children: Child[] = [];
  try {
    // One after the other: two processes that create the library's tables at once block each other.
    for (let i = 0; i < plan.processes; i++) {
      children.push(
        startChild(new URL("./bare-dbos.js", import.meta.url), "bareWorker", [
          plan.url,
          `bare-${i}`,
          plan.atOnce,
          plan.steps,
        ]),
      );
      await children.at(-1)!.next();
    }
    // The first process enqueues; its start is not measured.
    children[0]!.say({ enqueue: Math.min(50, plan.stories), prefix: "warm-up" });
    await children[0]!.next();
    const workersMs = async (): Promise<number> => children.reduce((sum, { pid }) => sum + processorMs(pid), 0);
    return await measureRate(plan.stories, { workersMs, serverMs: () => serverProcessorMs(plan.url) }, async () => {
      children[0]!.say({ enqueue: plan.stories, prefix: "story" });
      await children[0]!.next();
      return plan.stories * plan.steps.length;
    });
  } finally {
    await Promise.all(children.map((child) => child.end()));
  }
}

/** Runs in a separate process. */
export async function bareWorker(
  parent: Parent,
  url: string,
  id: string,
  atOnce: number,
  steps: readonly Event[],
): Promise<void> {
  const quiet = (): void => undefined;
  DBOS.setConfig({
    name: "bare",
    systemDatabaseUrl: url,
    systemDatabaseSchemaName: "bare",
    applicationVersion: "1",
    executorID: id,
    listenQueues: ["stories"],
    logger: { info: quiet, debug: quiet, warn: quiet, error: console.error },
  });
  const story = DBOS.registerWorkflow(
    async (name: string): Promise<string> => {
      for (const [i, event] of steps.entries())
        await DBOS.runStep(() => Promise.resolve({ ...event, name }), { name: `step-${i}` });
      return "accepted";
    },
    { name: "story" },
  );
  await DBOS.launch();
  await DBOS.registerQueue("stories", {
    workerConcurrency: atOnce,
    minPollingIntervalMs: 50,
    onConflict: "always_update",
  });
  parent.tell({ ready: id });
  for (;;) {
    const asked = (await parent.next()) as { enqueue: number; prefix: string } | null;
    if (asked === null) break;
    const handles = await Promise.all(
      Array.from({ length: asked.enqueue }, (_, i) => {
        const workflowID = `${asked.prefix}-${i}`;
        return DBOS.startWorkflow(story, { workflowID, queueName: "stories" })(workflowID);
      }),
    );
    for (const handle of handles) if ((await handle.getResult()) !== "accepted") throw new Error("a story was lost");
    parent.tell({ done: asked.prefix });
  }
  await DBOS.shutdown();
}
