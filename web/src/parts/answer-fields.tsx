import { useState } from "preact/hooks";
import type { Finding } from "../../../src/core/gates/finding.ts";
import { findingText } from "../../../src/views/story/finding-text.ts";

interface FieldProps {
  /** Reports the fields of the answer besides its message. */
  onMore(more: object): void;
}

export function FindingField({ findings, onMore }: FieldProps & { readonly findings: readonly Finding[] }) {
  const [picked, setPicked] = useState<readonly string[]>([]);
  if (findings.length === 0) return <p class="muted">It is about everything that the gate says now.</p>;
  const toggle = (id: string, isOn: boolean): void => {
    const next = isOn ? [...picked, id] : picked.filter((each) => each !== id);
    setPicked(next);
    onMore(next.length === 0 ? {} : { findings: next });
  };
  return (
    <fieldset>
      <legend>Which finding</legend>
      {findings.map((finding) => (
        <label class="finding-choice" key={finding.id}>
          <input
            type="checkbox"
            checked={picked.includes(finding.id)}
            onChange={(event) => toggle(finding.id, event.currentTarget.checked)}
          />
          <span>{findingText(finding, 200)}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function PhaseField({ phases, onMore }: FieldProps & { readonly phases: readonly string[] }) {
  return (
    <label>
      Back to
      <select onChange={({ currentTarget: { value } }) => onMore(value === "" ? {} : { phase: value })}>
        <option value="">where it belongs</option>
        {phases.map((phase) => (
          <option value={phase} key={phase}>
            {phase}
          </option>
        ))}
      </select>
    </label>
  );
}

const BUDGETS: Readonly<Record<string, string>> = {
  cost: "money of this story",
  tokens: "tokens of this story",
  time: "time of this story",
  iterations: "attempts of this story",
  "run-cost": "money of the whole run",
  "run-tokens": "tokens of the whole run",
  "run-time": "time of the whole run",
  "run-actions": "attempts and gate runs of the whole run",
};
const HOUR_MS = 3_600_000;

const budgetName = (budget: string): string =>
  BUDGETS[budget] ?? `failures of the ${budget.replace("failures:", "")} gate`;

interface BudgetProps extends FieldProps {
  readonly budget: string | undefined;
  readonly raise: { readonly budget: string; readonly limit: number } | undefined;
}

/** A budget in a familiar unit: dollars, tokens, hours, attempts. */
export function BudgetField({ budget, raise, onMore }: BudgetProps) {
  const [name, setName] = useState(budget ?? "cost");
  const [amount, setAmount] = useState(
    raise === undefined ? "" : String(raise.budget.endsWith("time") ? raise.limit / HOUR_MS : raise.limit),
  );
  const isTime = name.endsWith("time");
  const unit = name.endsWith("cost")
    ? "US dollars"
    : isTime
      ? "hours"
      : name.endsWith("tokens")
        ? "tokens"
        : "attempts";
  const set = (nextName: string, nextAmount: string): void => {
    setName(nextName);
    setAmount(nextAmount);
    const factor = nextName.endsWith("time") ? HOUR_MS : 1;
    onMore({ budget: nextName, limit: Number(nextAmount) * factor });
  };
  return (
    <div class="fields">
      <label>
        Budget
        <select value={name} onChange={(event) => set(event.currentTarget.value, amount)}>
          {[...new Set([...(budget === undefined ? [] : [budget]), ...Object.keys(BUDGETS)])].map((each) => (
            <option value={each} key={each}>
              {budgetName(each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        New limit, {unit}
        <input
          type="number"
          min="0"
          step="any"
          required
          value={amount}
          onInput={(event) => set(name, event.currentTarget.value)}
        />
      </label>
    </div>
  );
}
