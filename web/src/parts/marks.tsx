import { type BoardRow, type GateMark, stateText } from "../../../src/views/board/board.ts";
import { durationText, moneyText } from "../../../src/views/text/words.ts";
import { localTime } from "../time.ts";
import { now } from "../clock.ts";

const SIGNS: Readonly<Record<string, readonly [sign: string, tone: string]>> = {
  pass: ["✔", "good"],
  verified: ["✔", "good"],
  accepted: ["✔", "good"],
  ready: ["·", "calm"],
  fail: ["✖", "bad"],
  failed: ["✖", "bad"],
  waived: ["~", "warn"],
  error: ["?", "warn"],
  blocked: ["?", "warn"],
  inconclusive: ["?", "warn"],
  escalated: ["!", "person"],
  working: ["▶", "calm"],
  "in-gate": ["◇", "calm"],
  resolved: ["✔", "good"],
  new: ["✖", "bad"],
  persisting: ["✖", "bad"],
  regressed: ["✖", "bad"],
  disputed: ["?", "warn"],
  blamed: ["◉", "warn"],
  proven: ["◉", "warn"],
  done: ["✔", "good"],
  running: ["▶", "calm"],
  rejected: ["✖", "bad"],
  interrupted: ["?", "warn"],
};

/** A symbol and a word, never color alone. */
export function Badge({ word, label }: { readonly word: string; readonly label?: string }) {
  const [sign, tone] = SIGNS[word] ?? ["·", "plain"];
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span> {label ?? word}
    </span>
  );
}

/** A story's state, in the words of `remand status`. */
export const StateBadge = ({ card }: { readonly card: BoardRow }) => (
  <Badge word={card.status} label={stateText(card).word} />
);

interface GateStripProps {
  readonly gates: readonly GateMark[];
  /** Shows only symbols, for rows without space for names. */
  readonly isShort?: boolean;
}

export function GateStrip({ gates, isShort = false }: GateStripProps) {
  if (gates.length === 0) return null;
  return (
    <ul class="strip" aria-label="Gates">
      {gates.map(({ gate, standing, blocking }) => (
        <li title={isShort ? `${gate}: ${standing}` : undefined} key={gate}>
          {isShort && <span class="unseen">{gate} </span>}
          <Badge word={standing} label={`${isShort ? "" : gate}${countOf(standing, blocking)}`} />
          <span class="unseen"> {standing}</span>
        </li>
      ))}
    </ul>
  );
}

const countOf = (standing: string, blocking: number): string =>
  blocking > 0 && standing === "fail" ? ` ${blocking}` : "";

/** What a story waits for. */
export function Why({ card }: { readonly card: Pick<BoardRow, "actor" | "why"> }) {
  return <>{card.actor === "story" ? `waits for ${card.why}` : card.why}</>;
}

export interface MoneyProps {
  readonly usd: number;
  readonly unknown: boolean;
  readonly limit: number | null;
}

/** The cost, and its limit. */
export function Money({ usd, unknown, limit }: MoneyProps) {
  if (usd === 0 && unknown) return <span class="muted">cost unknown</span>;
  if (usd === 0 && limit === null) return null;
  const text = `${unknown ? "≥ " : ""}${moneyText(usd)}${limit === null ? "" : ` of ${moneyText(limit)}`}`;
  const part = limit === null || limit === 0 ? 0 : Math.min(1, usd / limit);
  return (
    <span class="money">
      {limit !== null && <Meter part={part} />}
      {text}
    </span>
  );
}

/** The browser's own meter element is several times slower to create, and lists have many. */
function Meter({ part }: { readonly part: number }) {
  return (
    <span
      class={`meter${part > NEARLY_ALL ? " is-high" : ""}`}
      role="meter"
      aria-label="Spent of the limit"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
    >
      <span style={{ width: `${part * 100}%` }} />
    </span>
  );
}

const NEARLY_ALL = 0.8;

/** How long ago, with the exact time as a tooltip. */
export function Ago({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={localTime(at)}>
      {durationText(Math.max(1000, now.value - at)).replace(/ \d+ s$/, "")} ago
    </time>
  );
}
