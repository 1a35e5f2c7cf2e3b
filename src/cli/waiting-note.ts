import type { World } from "./command.ts";

/** Says what is waited for when it takes longer than a moment, and again from time to time: `Running … (12 s so far)`. */
export async function withWaitingNote<T>(world: Pick<World, "err">, what: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const wait = (soFar: number, next: number): void => {
    timer = setTimeout(
      () => {
        world.err(`remand: ${what} (${next} s so far)\n`);
        wait(next, AT_SECONDS.find((each) => each > next) ?? next + 60);
      },
      1000 * (next - soFar),
    );
  };
  wait(0, AT_SECONDS[0]);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

const AT_SECONDS = [3, 10, 30, 60] as const;
