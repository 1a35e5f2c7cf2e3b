import type { Interrupt, World } from "./command.ts";

/** Does a piece of work that ends early when a person says so, and tells whether one did. */
export async function stoppable<T>(
  world: Pick<World, "onInterrupt" | "err">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly done: T; readonly interrupt: Interrupt | null }> {
  const stop = new AbortController();
  let interrupt: Interrupt | null = null;
  const unhook = world.onInterrupt((signal) => {
    interrupt = signal;
    world.err("remand: stopping (once more: at once)\n");
    stop.abort();
  });
  try {
    return { done: await work(stop.signal), interrupt };
  } finally {
    unhook();
  }
}
