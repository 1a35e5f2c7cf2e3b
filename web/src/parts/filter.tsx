import { useEffect, useRef, useState } from "preact/hooks";

export interface FilterProps {
  readonly label: string;
  readonly value: string;
  onInput(text: string): void;
}

/** Reports the text once typing pauses. */
const REST_MS = 15;

export function Filter({ label, value, onInput }: FilterProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onTyping = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onInput(next.trim()), REST_MS);
  };
  return (
    <label class="filter">
      <span class="unseen">{label}</span>
      <input type="search" placeholder={label} value={text} onInput={(event) => onTyping(event.currentTarget.value)} />
    </label>
  );
}
