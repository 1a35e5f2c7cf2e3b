import type { AnswerVerb, Escalation } from "../core/stories/escalation.ts";
import { type LikelyAnswer, likelyAnswers } from "../views/answers/likely-answers.ts";
import { shortLine } from "../views/text/words.ts";
import { fitText, plainText, withoutBackticks } from "../stdx/plain-text.ts";
import type { Keyboard, World } from "../app/command.ts";
import { paintFor } from "./terminal-kind.ts";

/** Lets a person choose a line, by arrow keys or by its number; `null`: the person left. */
function pick(world: World, keyboard: Keyboard, title: string, choices: readonly string[]): Promise<number | null> {
  const paint = paintFor(world.color);
  let chosen = 0;
  let drawn = 0;
  const draw = (): void => {
    const most = Math.max(1, keyboard.rows() - FRAME_ROWS);
    const from = Math.max(0, Math.min(chosen - Math.floor(most / 2), choices.length - most));
    const width = world.columns() - 1;
    const lines = choices.slice(from, from + most).map((choice, at) => {
      const line = fitText(`${from + at === chosen ? ">" : " "} ${from + at + 1}  ${choice}`, width);
      return from + at === chosen ? paint.strong(line) : line;
    });
    const keys = `up/down or a number, enter chooses, q leaves${choices.length > most ? ` (${chosen + 1} of ${choices.length})` : ""}`;
    const all = [fitText(title, width), ...lines, paint.dim(fitText(keys, width))];
    world.out(`${drawn === 0 ? "" : `\r\u001b[${drawn}A\u001b[J`}${all.join("\n")}\n`);
    drawn = all.length;
  };
  return new Promise((resolve) => {
    const end = (choice: number | null): void => {
      stop();
      unhook();
      resolve(choice);
    };
    const stop = keyboard.listen((key) => {
      if (key === "enter") return end(chosen);
      if (key === "escape" || key === "q" || key === "ctrl-c") return end(null);
      const number = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
      if (number >= 0 && number < choices.length && choices.length < 10) return end(number);
      if (key === "down" || key === "j") chosen = (chosen + 1) % choices.length;
      if (key === "up" || key === "k") chosen = (chosen + choices.length - 1) % choices.length;
      draw();
    }, draw);
    const unhook = world.onInterrupt(() => end(null));
    draw();
  });
}

const FRAME_ROWS = 3;

export interface AskedQuestion {
  readonly escalation: Escalation;
  /** The story of the question; `null`: the whole run. */
  readonly story: string | null;
}

/** A question and an answer, picked one after the other. */
export interface PickedAnswer {
  readonly about: string;
  readonly verb: AnswerVerb;
  readonly message: string;
  readonly raise?: LikelyAnswer["raise"];
}

export async function pickAnswer(
  world: World,
  keyboard: Keyboard,
  questions: readonly AskedQuestion[],
  print: (question: AskedQuestion) => void,
): Promise<PickedAnswer | null> {
  const [only] = questions;
  if (only === undefined) return null;
  const lines = questions.map(({ escalation, story }) =>
    withoutBackticks(shortLine(`${story ?? "the whole run"}: ${escalation.question}`, 300)),
  );
  const which = questions.length === 1 ? 0 : await pick(world, keyboard, "Which question?", lines);
  if (which === null) return null;
  const asked = questions[which]!;
  print(asked);
  // A dispute needs the id of a finding, which must be typed.
  const answers = likelyAnswers(asked.escalation).filter(({ verb }) => verb !== "dispute");
  const how = await pick(world, keyboard, "Your answer?", answers.map(answerLine));
  const answer = how === null ? undefined : answers[how];
  if (answer === undefined) return null;
  const { verb, needsMessage, raise } = answer;
  const message = world.ask === null ? "" : await world.ask(needsMessage ? "Message: " : "Message (optional): ");
  return { about: asked.escalation.id, verb, message, ...(raise === undefined ? {} : { raise }) };
}

const answerLine = ({ label, does, price }: LikelyAnswer): string =>
  `${label}${price === "" ? "" : ` ${price}`}: ${does.startsWith(`${label}: `) ? does.slice(label.length + 2) : does}`;

/** A text that fills the screen and scrolls by keys. */
export interface ScrolledText {
  readonly title: string;
  readonly lines: readonly string[];
  /** The first visible line; `null`: the view follows the end of the text. */
  readonly from: number | null;
  /** Reads more lines; `null`: the text does not change. */
  readonly next: (() => Promise<readonly string[]>) | null;
}

const TEXT_FRAME_ROWS = 2;

/** Returns the text scrolled by a key. */
export function scrollText(text: ScrolledText, key: string, keyboard: Keyboard): ScrolledText {
  const page = Math.max(1, keyboard.rows() - TEXT_FRAME_ROWS);
  const last = Math.max(0, text.lines.length - page);
  const from = Math.min(last, Math.max(0, (text.from ?? last) + stepOf(key, page)));
  return { ...text, from: from === last && text.next !== null ? null : from };
}

export function scrolledLines(world: World, keyboard: Keyboard, { title, lines, from, next }: ScrolledText): string[] {
  const paint = paintFor(world.color);
  const page = Math.max(1, keyboard.rows() - TEXT_FRAME_ROWS);
  const first = from ?? Math.max(0, lines.length - page);
  const width = world.columns() - 1;
  const shown = lines.slice(first, first + page).map((line) => {
    const text = fitText(plainText(line).replaceAll("\t", "    "), width);
    return text.startsWith("+") ? paint.good(text) : text.startsWith("-") ? paint.bad(text) : text;
  });
  const end = Math.min(lines.length, first + page);
  const place = lines.length === 0 ? "nothing yet" : `${first + 1}-${end} of ${lines.length}`;
  const isFollowing = next !== null && from === null ? ", follows" : "";
  return [
    paint.strong(fitText(title, width)),
    ...shown,
    ...Array.from({ length: page - shown.length }, () => ""),
    paint.dim(fitText(`${place}${isFollowing}  j/k, page up/down, g/G scroll  q back`, width)),
  ];
}

/** The number of lines by which a key scrolls; 0: the key does not scroll. */
export function stepOf(key: string, page: number): number {
  return (
    new Map([
      ["j", 1],
      ["down", 1],
      ["k", -1],
      ["up", -1],
      ["page-down", page],
      ["page-up", -page],
      ["g", -Infinity],
      ["G", Infinity],
    ]).get(key) ?? 0
  );
}

/** The terminal's alternate screen, without a cursor; the earlier content returns when it is left. */
export const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
export const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";

/** Draws the whole screen in one write, which terminals with synchronized output show at once. */
export function fullScreen(lines: readonly string[], rows: number): string {
  const drawn = lines.slice(0, rows).map((line) => `${line}\u001b[K`);
  return `\u001b[?2026h\u001b[H${drawn.join("\n")}\u001b[J\u001b[?2026l`;
}
