import { signal } from "@preact/signals";
import type { AnsweredDocument } from "../../../src/views/board/dashboard.ts";
import { ANSWER_LABELS } from "../../../src/views/answers/likely-answers.ts";
import type { AnswerVerb } from "../../../src/core/stories/escalation.ts";
import { refusalText, say } from "../ask.ts";
import { hello } from "../hello.ts";
import { Link } from "../router.tsx";
import { asRefusal } from "../use-document.ts";

/** What a person did on this page, until it is dismissed. */
interface Receipt {
  readonly key: number;
  readonly text: string;
  /** The stories whose answer can still be undone, because no work on it has started. */
  readonly stories: readonly string[];
}

const receipts = signal<readonly Receipt[]>([]);
let count = 0;

export interface AnswerBody {
  readonly verb: AnswerVerb;
  readonly message: string;
  readonly [more: string]: unknown;
}

/** Sends one answer to one or more questions, and shows a confirmation that begins with `label`. */
export async function sendAnswer(
  abouts: readonly string[],
  body: AnswerBody,
  label = ANSWER_LABELS[body.verb],
): Promise<void> {
  const [about, ...also] = abouts;
  const more = also.length === 0 ? {} : { also };
  const answered = await say<AnsweredDocument>("/answers", { about, ...more, ...body });
  const stories = [answered.story, ...(answered.also ?? [])].flatMap((story) => story ?? []);
  const what = stories.length === 0 ? "the run" : stories.join(", ");
  addReceipt(`${label}: ${what}, as ${answered.by}.${nextText()}`, stories);
}

/** A hint to start an engine, if none is running. */
const nextText = (): string =>
  hello.value?.engine.state === "running" ? "" : " No engine is running: start one to continue.";

export function addReceipt(text: string, stories: readonly string[] = []): void {
  receipts.value = [...receipts.value, { key: ++count, text, stories }].slice(-MOST);
}

const MOST = 4;

function replace(key: number, next: Receipt | null): void {
  receipts.value = receipts.value.flatMap((each) => (each.key !== key ? [each] : next === null ? [] : [next]));
}

async function undo(receipt: Receipt): Promise<void> {
  const texts: string[] = [];
  for (const story of receipt.stories) {
    try {
      await say("/undo", { about: story });
      texts.push(`Undone: ${story} is as it was before the answer.`);
    } catch (error) {
      texts.push(refusalText(asRefusal(error)));
    }
  }
  replace(receipt.key, { ...receipt, text: texts.join(" "), stories: [] });
}

/** Shown on every page, so that an answer can be undone after moving to another page. */
export function Receipts() {
  return (
    <div class="receipts" role="status" aria-label="Recent answers">
      {receipts.value.map((receipt) => (
        <p class="receipt" key={receipt.key}>
          <span>{receipt.text}</span>
          {receipt.stories.length > 0 && (
            <button type="button" onClick={() => void undo(receipt)}>
              Undo
            </button>
          )}
          {receipt.stories.length === 1 && <Link to={`/story/${receipt.stories[0]}`}>Story</Link>}
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => replace(receipt.key, null)}>
            ✕
          </button>
        </p>
      ))}
    </div>
  );
}
