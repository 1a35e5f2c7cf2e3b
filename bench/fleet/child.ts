import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";

/** A separate process that runs one exported function of a module in this folder, and exchanges lines of JSON. */
export interface Child {
  readonly pid: number;
  /** The child's next message. */
  next(): Promise<unknown>;
  say(word: unknown): void;
  /** Ends the process, and waits until it has exited. */
  end(): Promise<void>;
}

/** The child's side: messages of the parent, in order. */
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
  // A pending `next()` rejects with this error. If there is none, the error must not count as an unhandled rejection.
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

/** Returns a function that reads the next message; `null` at the end. */
function wordsOf(stream: NodeJS.ReadableStream): () => Promise<unknown> {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) return null;
      // Libraries print other lines; messages are JSON.
      if (/^[{["]/.test(value)) return JSON.parse(value) as unknown;
    }
  };
}
