import { useState } from "preact/hooks";
import type { LikelyAnswer } from "../../../src/views/answers/likely-answers.ts";
import type { NeedsYouRow } from "../../../src/views/board/now.ts";
import { refusalText } from "../ask.ts";
import { isReadOnly } from "../hello.ts";
import { Link } from "../router.tsx";
import { asRefusal } from "../use-document.ts";
import { sendAnswer } from "./receipts.tsx";
import { Words } from "./words.tsx";

interface Props {
  readonly rows: readonly NeedsYouRow[];
  /** The number of questions that are not among the rows. */
  readonly more: number;
  onAnswered(): void;
}

/**
 * The questions, each with its likely answers. Questions with the same cause, and selected ones, are answered together.
 */
export function NeedsYou({ rows, more, onAnswered }: Props) {
  const [selected, setSelected] = useState<readonly string[]>([]);
  const chosen = rows.filter(({ id }) => selected.includes(id));
  const toggle = (id: string, isOn: boolean): void =>
    setSelected(isOn ? [...selected, id] : selected.filter((each) => each !== id));
  const done = (): void => {
    setSelected([]);
    onAnswered();
  };
  return (
    <section aria-labelledby="needs-you">
      <h2 class="label" id="needs-you">
        Needs you · {rows.length + more}
        {rows.length > 0 && (
          <span class="muted hint">j/k to move, Enter to open, 1–9 to answer, x to select several</span>
        )}
      </h2>
      {rows.length === 0 && <p class="muted">Nothing waits for you.</p>}
      {chosen.length > 1 && <Together rows={chosen} onAnswered={done} />}
      <ul class="rows">
        {byCause(rows).map((group) =>
          group.length === 1 ? (
            <Row
              row={group[0]!}
              isSelected={selected.includes(group[0]!.id)}
              onSelect={toggle}
              onAnswered={done}
              key={group[0]!.id}
            />
          ) : (
            <CauseRow group={group} selected={selected} onSelect={toggle} onAnswered={done} key={group[0]!.cause} />
          ),
        )}
      </ul>
      {more > 0 && <p class="muted">{more} more: remand inbox lists all of them.</p>}
    </section>
  );
}

/** Groups rows with the same cause, at the position of the first of them. */
function byCause(rows: readonly NeedsYouRow[]): readonly (readonly NeedsYouRow[])[] {
  const groups = new Map<string, NeedsYouRow[]>();
  for (const row of rows) groups.set(row.cause, [...(groups.get(row.cause) ?? []), row]);
  return [...groups.values()];
}

interface RowProps {
  readonly row: NeedsYouRow;
  readonly isSelected: boolean;
  onSelect(id: string, isOn: boolean): void;
  onAnswered(): void;
}

function Row({ row, isSelected, onSelect, onAnswered }: RowProps) {
  const { id, title, question, why, answers } = row;
  return (
    <li class="need" data-row>
      <input
        type="checkbox"
        aria-label={`Select ${title}`}
        checked={isSelected}
        onChange={(event) => onSelect(id, event.currentTarget.checked)}
      />
      <div class="need-text">
        <h3>
          <Link to={`/question/${id}`} isMain>
            {title} — <Words text={question} />
          </Link>
        </h3>
        <p class="muted">
          <Words text={why} />
        </p>
      </div>
      <Answers abouts={[id]} answers={answers} onAnswered={onAnswered} />
    </li>
  );
}

interface GroupProps {
  readonly group: readonly NeedsYouRow[];
  readonly selected: readonly string[];
  onSelect(id: string, isOn: boolean): void;
  onAnswered(): void;
}

/** Several stories with the same cause, settled by one answer. */
function CauseRow({ group, selected, onSelect, onAnswered }: GroupProps) {
  const [{ question, why }] = group as readonly [NeedsYouRow];
  return (
    <li class="need cause">
      <div class="need" data-row>
        <span class="count" aria-hidden="true">
          {group.length}
        </span>
        <div class="need-text">
          <h3>
            {group.length} stories — <Words text={question} />
          </h3>
          <p class="muted">
            <Words text={why} />
          </p>
        </div>
        <Answers abouts={group.map(({ id }) => id)} answers={commonAnswers(group)} onAnswered={onAnswered} />
      </div>
      <details>
        <summary>Each by itself</summary>
        <ul class="rows">
          {group.map((row) => (
            <Row
              row={row}
              isSelected={selected.includes(row.id)}
              onSelect={onSelect}
              onAnswered={onAnswered}
              key={row.id}
            />
          ))}
        </ul>
      </details>
    </li>
  );
}

/** The answers that all rows have in common. The cost differs per row. */
function commonAnswers(rows: readonly NeedsYouRow[]): readonly LikelyAnswer[] {
  const [first, ...others] = rows;
  return (first?.answers ?? [])
    .filter(({ verb }) => others.every(({ answers }) => answers.some((each) => each.verb === verb)))
    .map((answer) => (answer.price === "" ? answer : { ...answer, price: `${answer.price} each` }));
}

function Together({ rows, onAnswered }: { readonly rows: readonly NeedsYouRow[]; onAnswered(): void }) {
  const answers = commonAnswers(rows);
  return (
    <div class="together" role="group" aria-label="Answer the selected questions together">
      <strong>{rows.length} selected</strong>
      {answers.length === 0 && <span class="muted">No answer fits all of them.</span>}
      <Answers abouts={rows.map(({ id }) => id)} answers={answers} onAnswered={onAnswered} />
    </div>
  );
}

const LIKELY = 2;

interface AnswersProps {
  readonly abouts: readonly string[];
  readonly answers: readonly LikelyAnswer[];
  onAnswered(): void;
}

/**
 * The likely answers as buttons with their price; the others below "More". An answer that needs a message opens a
 * field.
 */
export function Answers({ abouts, answers, onAnswered }: AnswersProps) {
  const [asking, setAsking] = useState<LikelyAnswer | null>(null);
  const [problem, setProblem] = useState("");
  const isOff = isReadOnly();
  const send = async (answer: LikelyAnswer, message: string): Promise<void> => {
    try {
      await sendAnswer(abouts, { verb: answer.verb, message, ...answer.raise }, answer.label);
      setAsking(null);
      setProblem("");
      onAnswered();
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  const pick = (answer: LikelyAnswer): void => {
    if (answer.needsMessage) setAsking(answer);
    else void send(answer, "");
  };
  // These answers need a finding or a limit; the fields are on the question's page.
  const direct = answers.filter(
    ({ verb, raise }) => verb !== "dispute" && (verb !== "raise-budget" || raise !== undefined),
  );
  const button = (answer: LikelyAnswer, index: number) => (
    <button
      type="button"
      class={index === 0 ? "primary" : ""}
      title={`${answer.does}. ${answer.price}`}
      disabled={isOff}
      data-answer
      onClick={() => pick(answer)}
      key={answer.verb}
    >
      {answer.label}
      {answer.needsMessage && "…"} {answer.price !== "" && <span class="price">{answer.price}</span>}
    </button>
  );
  return (
    <>
      <div class="need-answers">
        {direct.slice(0, LIKELY).map(button)}
        {direct.length > LIKELY && (
          <details class="menu">
            <summary>More</summary>
            <div>{direct.slice(LIKELY).map((answer, index) => button(answer, index + LIKELY))}</div>
          </details>
        )}
      </div>
      {asking !== null && (
        <MessageForm
          answer={asking}
          onSend={(message) => void send(asking, message)}
          onCancel={() => setAsking(null)}
        />
      )}
      <AnswerProblem text={problem} />
    </>
  );
}

/** Why an answer was refused. */
export function AnswerProblem({ text }: { readonly text: string }) {
  if (text === "") return null;
  return (
    <p class="need-problem" role="alert">
      {text}
    </p>
  );
}

interface MessageProps {
  readonly answer: Pick<LikelyAnswer, "verb" | "label" | "does" | "price">;
  onSend(message: string): void;
  onCancel(): void;
}

/** The message of an answer that needs one. */
export function MessageForm({ answer, onSend, onCancel }: MessageProps) {
  const [message, setMessage] = useState("");
  return (
    <form
      class="need-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(message);
      }}
      onKeyDown={(event) => (event.key === "Escape" ? onCancel() : undefined)}
    >
      <label>
        {answer.verb === "send-back" ? "Instructions for the next attempt" : "Reason, recorded with your name"}
        <textarea
          rows={2}
          required
          value={message}
          ref={(element) => (message === "" ? element?.focus() : undefined)}
          onInput={(event) => setMessage(event.currentTarget.value)}
        />
      </label>
      <p class="muted">
        {answer.does}. {answer.price}
      </p>
      <div class="tools">
        <button type="submit" class="primary">
          {answer.label}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
