import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";

/** A process of its own that runs one exported function of a module of this folder, and talks to us in lines of JSON. */
export interface Child {
  readonly pid: number;
  /** The next thing it says. */
  next(): Promise<unknown>;
  say(word: unknown): void;
  /** Ends it, and waits until it is gone. */
  end(): Promise<void>;
}

/** The other end: what the parent says, in order. */
export interface Parent {
  tell(word: unknown): void;
  next(): Promise<unknown>;
}

/** Starts `<name>(parent, ...args)` of a compiled module. */
export function startChild(module: URL, name: string, args: readonly unknown[]): Child {
  const script = [
    `const { runChild } = await import(${JSON.stringify(new URL("./child.js", import.meta.url).href)});`,
    `const work = await import(${JSON.stringify(module.href)});`,
    `await runChild(work[${JSON.stringify(name)}], ${JSON.stringify(args)});`,
  ].join("\n");
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  const words = wordsOf(child.stdout);
  const exited = once(child, "exit");
  const endedEarly = exited.then(([code]): never => {
    throw new Error(`a process of this benchmark ended with ${String(code)} before it had said everything`);
  });
  // A pending `next()` rejects with this error. Without one, it must not count as an unhandled rejection.
  endedEarly.catch(() => undefined);
  return {
    pid: child.pid!,
    next: () => Promise.race([words(), endedEarly]),
    say: (word) => void child.stdin.write(`${JSON.stringify(word)}\n`),
    end: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

export async function runChild(
  work: (parent: Parent, ...args: readonly unknown[]) => Promise<void>,
  args: readonly unknown[],
): Promise<void> {
  await work(
    { tell: (word) => void process.stdout.write(`${JSON.stringify(word)}\n`), next: wordsOf(process.stdin) },
    ...args,
  );
  process.exit(0);
}

/** Lines as values, one for each time that is asked; `null` when there will be none any more. */
function wordsOf(stream: NodeJS.ReadableStream): () => Promise<unknown> {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) return null;
      // Libraries print what they like; our own lines are JSON.
      if (/^[{["]/.test(value)) return JSON.parse(value) as unknown;
    }
  };
}
