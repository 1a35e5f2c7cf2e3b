import { useId, useState } from "preact/hooks";
import {
  type AnswerVerb,
  type EscalationOption,
  type EscalationReason,
  needsMessage,
} from "../../../src/core/stories/escalation.ts";
import type { Finding } from "../../../src/core/gates/finding.ts";
import { answerLabel, type LikelyAnswer } from "../../../src/views/answers/likely-answers.ts";
import { refusalText } from "../ask.ts";
import { isReadOnly } from "../hello.ts";
import { asRefusal } from "../use-document.ts";
import { BudgetField, FindingField, PhaseField } from "./answer-fields.tsx";
import { sendAnswer } from "./receipts.tsx";
import { Words } from "./words.tsx";

export interface AnswerFormProps {
  /** The id of the escalation or the story. */
  readonly about: string;
  readonly options: readonly EscalationOption[];
  readonly findings: readonly Finding[];
  /** The ids of the findings that can still be disputed. */
  readonly disputable: readonly string[];
  readonly phases: readonly string[];
  /** The budget of the question, if it is about one. */
  readonly budget?: string;
  /** The suggested new limit of the budget. */
  readonly raise?: LikelyAnswer["raise"] | undefined;
  /** The reason of the question, if there is one: its first answer is the recommended one. */
  readonly reason?: EscalationReason;
  /** The preselected answer. */
  readonly picked?: AnswerVerb;
  onAnswered(): void;
}

/** The possible answers with their effects and costs, before one is sent. */
export function AnswerForm(props: AnswerFormProps) {
  const { about, options, findings, disputable, phases, reason = null, onAnswered } = props;
  const name = useId();
  const [verb, setVerb] = useState<AnswerVerb | null>(props.picked ?? null);
  const [message, setMessage] = useState("");
  const [more, setMore] = useState<object>({});
  const [problem, setProblem] = useState("");
  const answer = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (verb === null) return;
    if (verb === "dispute" && !("findings" in more)) return setProblem("Pick the finding that you dispute.");
    try {
      await sendAnswer([about], { verb, message, ...more });
      setProblem("");
      setVerb(null);
      setMessage("");
      onAnswered();
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  const pick = (next: AnswerVerb): void => {
    setVerb(next);
    setMore(next === "raise-budget" && props.raise !== undefined ? { ...props.raise } : {});
    setProblem("");
  };
  return (
    <form class="answer" onSubmit={(event) => void answer(event)}>
      <Choices name={name} options={options} verb={verb} reason={reason} onPick={pick} />
      {verb !== null && (
        <div class="answer-more">
          {verb === "waive" && <FindingField key={verb} findings={findings} onMore={setMore} />}
          {verb === "dispute" && (
            <FindingField key={verb} findings={findings.filter(({ id }) => disputable.includes(id))} onMore={setMore} />
          )}
          {verb === "send-back" && phases.length > 1 && <PhaseField phases={phases} onMore={setMore} />}
          {verb === "raise-budget" && <BudgetField budget={props.budget} raise={props.raise} onMore={setMore} />}
          <label>
            {messageLabel(verb, reason)}
            <textarea
              rows={3}
              required={needsMessage(verb, reason)}
              value={message}
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={isReadOnly()}>
            {isReadOnly() ? "This dashboard is read-only" : answerLabel(verb, reason)}
          </button>
        </div>
      )}
      <p role="status">{problem}</p>
    </form>
  );
}

function messageLabel(verb: AnswerVerb, reason: EscalationReason | null): string {
  if (!needsMessage(verb, reason)) return "Comment (optional)";
  return verb === "send-back" ? "Instructions for the next attempt" : "Reason, recorded with your name";
}

interface ChoicesProps {
  readonly name: string;
  readonly options: readonly EscalationOption[];
  readonly verb: AnswerVerb | null;
  readonly reason: EscalationReason | null;
  onPick(verb: AnswerVerb): void;
}

/** Keyboard: the number in front of an answer selects it while an answer has the focus. */
function Choices({ name, options, verb, reason, onPick }: ChoicesProps) {
  const pickByKey = (event: KeyboardEvent): void => {
    const option = options[Number(event.key) - 1];
    if (option !== undefined) onPick(option.verb);
  };
  return (
    <fieldset class="choices" onKeyDown={pickByKey}>
      <legend class="unseen">Your answer</legend>
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
            <strong>{answerLabel(option.verb, reason)}</strong> <kbd aria-hidden="true">{index + 1}</kbd>{" "}
            {reason !== null && index === 0 && <span class="badge calm">recommended</span>}
            <span class="muted">
              <Words text={`${option.does}. Costs: ${option.cost}.`} />
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
