import { useId } from "preact/hooks";
import { moneyText } from "../../../src/views/text/words.ts";

export interface BarRow {
  readonly name: string;
  readonly value: number;
  /** The part that was spent on rejected work, drawn differently. */
  readonly part: number;
  readonly cells: readonly string[];
}

export interface BarChartProps {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly BarRow[];
}

const HEIGHT = 22;
const WIDTH = 640;
const NAMES = 200;
/** More bars than this are hard to read. */
const MOST = 15;

/** Bars, and below them the same figures as a table for exact values and screen readers. */
export function BarChart({ label, heads, rows }: BarChartProps) {
  const id = useId();
  const drawn = rows.slice(0, MOST).filter(({ value }) => value > 0);
  if (rows.length === 0) return <p class="muted">Nothing yet.</p>;
  const most = Math.max(...drawn.map(({ value }) => value), 0.000_001);
  const wide = (value: number): number => Math.max(2, (value / most) * (WIDTH - NAMES - 70));
  return (
    <>
      {drawn.length > 0 && (
        <svg
          class="chart"
          viewBox={`0 0 ${WIDTH} ${drawn.length * HEIGHT + 4}`}
          role="img"
          aria-labelledby={`${id}-label`}
        >
          <title id={`${id}-label`}>{label}; the same figures are in the table below</title>
          {drawn.map(({ name, value, part }, index) => (
            <g transform={`translate(0 ${index * HEIGHT})`} key={name}>
              <text x={NAMES - 8} y={15} class="chart-name">
                {name.length > 24 ? `${name.slice(0, 23)}…` : name}
              </text>
              <rect x={NAMES} y={4} width={wide(value)} height={HEIGHT - 8} rx={3} class="bar" />
              {part > 0 && <rect x={NAMES} y={4} width={wide(part)} height={HEIGHT - 8} rx={3} class="bar-part" />}
              <text x={NAMES + wide(value) + 6} y={15} class="chart-value">
                {moneyText(value)}
              </text>
            </g>
          ))}
        </svg>
      )}
      <details open={drawn.length === 0}>
        <summary>Table: {label}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={label}>
          <table>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th scope="col" key={head}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, cells }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {cells.map((cell, index) => (
                    <td key={index}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
