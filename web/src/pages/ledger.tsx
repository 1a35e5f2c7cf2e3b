import { countText } from "../../../src/stdx/plain-text.ts";
import { useState } from "preact/hooks";
import { COST_VIEWS, type CostRow, type CostView } from "../../../src/views/board/cost.ts";
import type { SpendingReport as LedgerDocument } from "../../../src/views/board/ledger.ts";
import { durationText, moneyText } from "../../../src/views/text/words.ts";
import { BarChart } from "../parts/bar-chart.tsx";
import { Loading } from "../parts/loading.tsx";
import { Money } from "../parts/marks.tsx";
import { Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

const PAID = new Set(["attempt.finished", "gate.judged", "blame.found", "work.sent-back", "attempt.unclear"]);

/** Costs, their causes, how much was spent on rejected work, and a forecast. */
export function Ledger() {
  useTitle("Cost");
  const loaded = useDocument<LedgerDocument>("/ledger", ({ type }) => PAID.has(type));
  return (
    <>
      <h1>Cost</h1>
      <Loading loaded={loaded}>
        {(ledger) => (
          <>
            <Figures ledger={ledger} />
            <div class="charts">
              <Spending ledger={ledger} />
              <Waste ledger={ledger} />
              <Days ledger={ledger} />
              <Spots ledger={ledger} />
            </div>
          </>
        )}
      </Loading>
    </>
  );
}

const spentText = ({ costUsd, costUnknown }: Pick<CostRow, "costUsd" | "costUnknown">): string =>
  costUnknown && costUsd === 0 ? "unknown" : `${costUnknown ? "at least " : ""}${moneyText(costUsd)}`;

function Figures({ ledger: { total, limitUsd, forecast, accepted } }: { readonly ledger: LedgerDocument }) {
  const share = total.costUsd === 0 ? "" : ` (${Math.round((total.wastedUsd / total.costUsd) * 100)} %)`;
  return (
    <dl class="figures">
      <div>
        <dt>Spent</dt>
        <dd>
          <Money usd={total.costUsd} unknown={total.costUnknown} limit={limitUsd} />
          {total.costUsd === 0 && limitUsd === null && !total.costUnknown && "nothing"}
        </dd>
      </div>
      <div>
        <dt>On rejected work</dt>
        <dd>
          {moneyText(total.wastedUsd)}
          {share}
        </dd>
      </div>
      <div>
        <dt>For each accepted story</dt>
        <dd>
          {accepted.usdPerStory === null ? "none is accepted yet" : moneyText(accepted.usdPerStory)}
          {accepted.stories > 0 && <span class="muted"> all that was spent ÷ {accepted.stories} accepted</span>}
        </dd>
      </div>
      <div>
        <dt>Accepted at the first attempt</dt>
        <dd>
          {accepted.stories === 0 ? "–" : `${Math.round((accepted.firstPass / accepted.stories) * 100)} %`}
          {accepted.stories > 0 && (
            <span class="muted">
              {" "}
              {accepted.firstPass} of {accepted.stories}
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>Time of agents and gates</dt>
        <dd>{durationText(total.timeMs)}</dd>
      </div>
      <div>
        <dt>One more attempt of each open story</dt>
        <dd>
          {nextText(forecast)}
          {forecast.unknown > 0 && forecast.unknown < forecast.stories && (
            <span class="muted"> {countText(forecast.unknown, "story", "stories")} unknown</span>
          )}
        </dd>
      </div>
    </dl>
  );
}

function Days({ ledger: { days } }: { readonly ledger: LedgerDocument }) {
  return (
    <section>
      <h2>By day</h2>
      <BarChart
        label="Spent by day"
        heads={["Day", "Spent", "Attempts", "Sent back", "Accepted"]}
        rows={days.map((day) => ({
          name: day.date,
          value: day.costUsd,
          part: 0,
          cells: [spentText(day), String(day.attempts), String(day.sentBack), String(day.accepted)],
        }))}
      />
    </section>
  );
}

function nextText({ stories, unknown, nextUsd }: LedgerDocument["forecast"]): string {
  if (stories === 0) return "none is open";
  return unknown === stories ? "unknown" : `about ${moneyText(nextUsd)}`;
}

/** The terminal's grouping by agent is a grouping by role. */
const VIEW_NAMES: Readonly<Record<CostView, string>> = {
  story: "story",
  agent: "role",
  model: "model",
  gate: "gate",
  location: "location",
  cause: "cause",
};

function Spending({ ledger }: { readonly ledger: LedgerDocument }) {
  const [view, setView] = useState<CostView>("story");
  return (
    <section>
      <div class="section-head">
        <h2>By {VIEW_NAMES[view]}</h2>
        <fieldset class="switch">
          <legend class="unseen">Spending by</legend>
          {COST_VIEWS.map((each) => (
            <label key={each}>
              <input type="radio" name="by" checked={view === each} onChange={() => setView(each)} />
              {VIEW_NAMES[each]}
            </label>
          ))}
        </fieldset>
      </div>
      <BarChart
        label={`Spent by ${VIEW_NAMES[view]}`}
        heads={[VIEW_NAMES[view], "Spent", "Sent back", "Time", "Calls"]}
        rows={ledger.rows[view].map((row) => ({
          name: row.name,
          value: row.costUsd,
          part: row.wastedUsd,
          cells: [spentText(row), moneyText(row.wastedUsd), durationText(row.timeMs), String(row.times)],
        }))}
      />
      <p class="legend muted">
        <span class="swatch" aria-hidden="true" /> spent on attempts that were sent back
      </p>
      {ledger.more[view] > 0 && (
        <p class="muted">
          and {ledger.more[view]} more: remand cost --by {view}
        </p>
      )}
    </section>
  );
}

function Waste({ ledger: { rows } }: { readonly ledger: LedgerDocument }) {
  const causes = rows.cause.filter(({ wastedUsd }) => wastedUsd > 0).toSorted((a, b) => b.wastedUsd - a.wastedUsd);
  if (causes.length === 0) return null;
  return (
    <section>
      <h2>Sent back, by cause</h2>
      <BarChart
        label="Spent on attempts that were sent back, by what they were made for"
        heads={["Cause", "Sent back", "Calls"]}
        rows={causes.map((row) => ({
          name: row.name,
          value: row.wastedUsd,
          part: row.wastedUsd,
          cells: [moneyText(row.wastedUsd), String(row.times)],
        }))}
      />
    </section>
  );
}

function Spots({ ledger: { troubleSpots } }: { readonly ledger: LedgerDocument }) {
  if (troubleSpots.length === 0) return null;
  return (
    <section>
      <h2>Trouble spots</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Trouble spots">
        <table>
          <thead>
            <tr>
              <th scope="col">Place</th>
              <th scope="col">Story</th>
              <th scope="col">Reworks</th>
              <th scope="col">Since a pass</th>
            </tr>
          </thead>
          <tbody>
            {troubleSpots.map(({ place, story, attempts, sincePass }) => (
              <tr key={`${story} ${place}`}>
                <th scope="row">
                  <code>{place}</code>
                </th>
                <td>
                  <Link to={`/story/${story}`}>{story}</Link>
                </td>
                <td>{attempts}</td>
                <td>{sincePass}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
