import { useId, useState } from "preact/hooks";
import type { AnswerVerb, EscalationOption } from "../../../src/core/stories/escalation.ts";
import type { Finding } from "../../../src/core/gates/finding.ts";
import type { AnsweredDocument } from "../../../src/views/board/dashboard.ts";
import { NEEDS_MESSAGE } from "../../../src/core/stories/escalation.ts";
import { say } from "../ask.ts";
import { hello } from "../hello.ts";
import { asRefusal } from "../use-document.ts";
import { BudgetField, FindingField, PhaseField } from "./answer-fields.tsx";

export interface AnswerFormProps {
  /** The escalation, or the story. */
  readonly about: string;
  readonly options: readonly EscalationOption[];
  readonly findings: readonly Finding[];
  /** The ids of the findings that an independent reviewer can still be asked about. */
  readonly disputable: readonly string[];
  readonly phases: readonly string[];
  /** The budget that is asked about, where one is. */
  readonly budget?: string;
  onAnswered(): void;
}

/** The answers that make sense, each with what it will do and what it costs, before anything is sent. */
export function AnswerForm(props: AnswerFormProps) {
  const { about, options, findings, disputable, phases, onAnswered } = props;
  const name = useId();
  const [verb, setVerb] = useState<AnswerVerb | null>(null);
  const [message, setMessage] = useState("");
  const [more, setMore] = useState<object>({});
  const [told, setTold] = useState("");
  const isReadOnly = hello.value?.readOnly === true;
  const answer = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const said = await say<AnsweredDocument>("/answers", { about, verb, message, ...more });
      setTold(`Noted: ${said.by} says ${said.verb}. A running engine continues with it; otherwise remand run does.`);
      setVerb(null);
      setMessage("");
      onAnswered();
    } catch (error) {
      const { message: what, hint } = asRefusal(error);
      setTold(`${what}. ${hint}`);
    }
  };
  const pick = (next: AnswerVerb): void => {
    setVerb(next);
    setMore({});
  };
  return (
    <form class="answer" onSubmit={(event) => void answer(event)}>
      <Choices name={name} options={options} verb={verb} onPick={pick} />
      {verb !== null && (
        <div class="answer-more">
          {verb === "waive" && <FindingField key={verb} findings={findings} onMore={setMore} />}
          {verb === "dispute" && (
            <FindingField key={verb} findings={findings.filter(({ id }) => disputable.includes(id))} onMore={setMore} />
          )}
          {verb === "send-back" && phases.length > 1 && <PhaseField phases={phases} onMore={setMore} />}
          {verb === "raise-budget" && <BudgetField budget={props.budget} onMore={setMore} />}
          <label>
            {NEEDS_MESSAGE.has(verb) ? "Your words" : "Your words, if you like"}
            <textarea rows={3} value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
          </label>
          <button type="submit" class="primary" disabled={isReadOnly}>
            {isReadOnly ? "This dashboard is read-only" : `Say ${verb} as ${hello.value?.by ?? "…"}`}
          </button>
        </div>
      )}
      <p role="status">{told}</p>
    </form>
  );
}

interface ChoicesProps {
  readonly name: string;
  readonly options: readonly EscalationOption[];
  readonly verb: AnswerVerb | null;
  onPick(verb: AnswerVerb): void;
}

/** With the keyboard: the number in front of an answer picks it while one of them has the focus. */
function Choices({ name, options, verb, onPick }: ChoicesProps) {
  const pickByKey = (event: KeyboardEvent): void => {
    const option = options[Number(event.key) - 1];
    if (option !== undefined) onPick(option.verb);
  };
  return (
    <fieldset class="choices" onKeyDown={pickByKey}>
      <legend>Your answer</legend>
      {options.map((option, index) => (
        <label class="choice" key={option.verb}>
          <input
            type="radio"
            name={name}
            value={option.verb}
            checked={verb === option.verb}
            onChange={() => onPick(option.verb)}
          />
          <span>
            <strong>{option.verb}</strong> <kbd aria-hidden="true">{index + 1}</kbd>
            <span class="muted">
              {option.does}. Costs: {option.cost}.
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
