import type { ComponentChildren } from "preact";
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
  const { about, options, reason = null, onAnswered } = props;
  const name = useId();
  // The recommended answer to a question is open at first.
  const first = props.picked ?? (reason === null ? null : (options[0]?.verb ?? null));
  const raiseOf = (next: AnswerVerb | null): object => (next === "raise-budget" ? { ...props.raise } : {});
  const [verb, setVerb] = useState<AnswerVerb | null>(first);
  const [message, setMessage] = useState("");
  const [more, setMore] = useState<object>(raiseOf(first));
  const [problem, setProblem] = useState("");
  const answer = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (verb === null) return;
    if (verb === "dispute" && !("findings" in more)) return setProblem("Pick the finding that you dispute.");
    try {
      await sendAnswer([about], { verb, message, ...more }, answerLabel(verb, reason));
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
    setMore(raiseOf(next));
    setProblem("");
  };
  return (
    <form class="answer" onSubmit={(event) => void answer(event)}>
      <Choices name={name} options={options} verb={verb} reason={reason} onPick={pick}>
        {verb !== null && <Fields {...props} verb={verb} message={message} onMessage={setMessage} onMore={setMore} />}
      </Choices>
      <p role="status">{problem}</p>
    </form>
  );
}

interface FieldsProps extends AnswerFormProps {
  readonly verb: AnswerVerb;
  readonly message: string;
  onMessage(message: string): void;
  onMore(more: object): void;
}

/** What an answer needs, and the button that sends it. */
function Fields({ verb, message, onMessage, onMore, ...props }: FieldsProps) {
  const { findings, disputable, phases, reason = null } = props;
  return (
    <div class="answer-more">
      {verb === "waive" && <FindingField key={verb} findings={findings} onMore={onMore} />}
      {verb === "dispute" && (
        <FindingField key={verb} findings={findings.filter(({ id }) => disputable.includes(id))} onMore={onMore} />
      )}
      {verb === "send-back" && phases.length > 1 && <PhaseField phases={phases} onMore={onMore} />}
      {verb === "raise-budget" && <BudgetField budget={props.budget} raise={props.raise} onMore={onMore} />}
      <label>
        {messageLabel(verb, reason)}
        <textarea
          rows={needsMessage(verb, reason) ? 3 : 1}
          required={needsMessage(verb, reason)}
          value={message}
          onInput={(event) => onMessage(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isReadOnly()}>
        {isReadOnly() ? "This dashboard is read-only" : answerLabel(verb, reason)}
      </button>
    </div>
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
  /** The fields of the selected answer, which are shown below it. */
  readonly children: ComponentChildren;
}

/** Keyboard: the number in front of an answer selects it while an answer has the focus. */
function Choices({ name, options, verb, reason, onPick, children }: ChoicesProps) {
  const pickByKey = (event: KeyboardEvent): void => {
    const option = options[Number(event.key) - 1];
    if (option !== undefined && (event.target as HTMLInputElement).type === "radio") onPick(option.verb);
  };
  return (
    <fieldset class="choices" onKeyDown={pickByKey}>
      <legend class="unseen">Your answer</legend>
      {options.map((option, index) => (
        <div class={`choice${verb === option.verb ? " is-picked" : ""}`} key={option.verb}>
          <label>
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
          {verb === option.verb && children}
        </div>
      ))}
    </fieldset>
  );
}
