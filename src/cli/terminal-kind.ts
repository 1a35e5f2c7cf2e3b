import { ASCII_GLYPHS, type Glyphs, UNICODE_GLYPHS } from "../views/text/words.ts";
import type { Interrupt, World } from "../app/command.ts";

type Env = World["env"];

/**
 * The symbols that the terminal can show. A locale that is set and is not UTF-8 means ASCII. No locale counts as UTF-8,
 * because containers and CI services set none and can show it.
 */
export function glyphsFor(env: Env): Glyphs {
  if (env["TERM"] === "dumb" || env["TERM"] === "linux") return ASCII_GLYPHS;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return locale === "" || /utf-?8/i.test(locale) ? UNICODE_GLYPHS : ASCII_GLYPHS;
}

/** Variables that coding agents set for the commands they run. */
const AGENT_VARIABLES = [
  "CLAUDECODE",
  "CODEX_SANDBOX",
  "CODEX_THREAD_ID",
  "GEMINI_CLI",
  "CURSOR_AGENT",
  "OPENCODE",
  "AUGMENT_AGENT",
  "CLINE_ACTIVE",
  "AI_AGENT",
  "REMAND_RUN",
];

/** Whether an agent reads the output. Every line that it reads costs its user money. */
export function isCalledByAgent(env: Env): boolean {
  return AGENT_VARIABLES.some((name) => Boolean(env[name]));
}

export const isCi = (env: Env): boolean => Boolean(env["CI"]) && env["CI"] !== "false";

/** Whether lines can be redrawn in place. */
export function canRedraw(env: Env, terminal: boolean): boolean {
  return terminal && env["TERM"] !== "dumb" && !isCi(env);
}

const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;
const same = (text: string): string => text;

export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  strong(text: string): string;
  dim(text: string): string;
}

export function paintFor(color: boolean): Paint {
  if (!color) return { good: same, bad: same, warn: same, strong: same, dim: same };
  return { good: sgr(32, 39), bad: sgr(31, 39), warn: sgr(33, 39), strong: sgr(1, 22), dim: sgr(2, 22) };
}

/** Runs work that ends early when a person interrupts it; returns the interrupt if there was one. */
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
