import type { AnswerVerb, Escalation } from "../core/stories/escalation.ts";
import { type LikelyAnswer, likelyAnswers } from "../views/answers/likely-answers.ts";
import { shortLine, withoutBackticks } from "../views/text/words.ts";
import { fitText } from "../stdx/plain-text.ts";
import type { Keyboard, World } from "../app/command.ts";
import { paintFor } from "./terminal-kind.ts";

/** Lets a person choose one of a few lines, by arrow keys or by its number; `null`: they left. */
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
  /** `null`: the whole run. */
  readonly story: string | null;
}

/** A question and an answer to it, chosen one after the other; `null`: the person left. */
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
  // A dispute needs the id of a finding: that is typed.
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
