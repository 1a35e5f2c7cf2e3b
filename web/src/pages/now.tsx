import { useEffect, useState } from "preact/hooks";
import type { NowDocument } from "../../../src/views/board/dashboard.ts";
import type { EndedRow, Today, WorkingRow } from "../../../src/views/board/now.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { durationText, moneyText } from "../../../src/views/text/words.ts";
import { now } from "../clock.ts";
import { Answered } from "../parts/answered.tsx";
import { Loading } from "../parts/loading.tsx";
import { NeedsYou } from "../parts/needs-you.tsx";
import { Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** What needs the person, what is running, what is next, and what has ended, on one screen. */
export function Now() {
  useTitle("Now");
  const loaded = useDocument<NowDocument>("/now");
  // Output is not in the journal, so it is loaded again from time to time.
  const isWorking = (loaded.data?.working.length ?? 0) > 0;
  const { reload } = loaded;
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(() => (document.visibilityState === "visible" ? reload() : undefined), 2000);
    return () => clearInterval(timer);
  }, [isWorking, reload]);
  return (
    <>
      <h1 class="unseen">Now</h1>
      <Loading loaded={loaded}>
        {(data) => (data.hasJournal ? <Screen data={data} onAnswered={reload} /> : <NothingYet />)}
      </Loading>
    </>
  );
}

function NothingYet() {
  return (
    <div class="empty">
      <h2>Nothing has run here yet</h2>
      <p>
        Start with <code>remand run</code>, <code>remand loop</code> or <code>remand demo</code>. This page shows it as
        soon as it happens.
      </p>
    </div>
  );
}

function Screen({ data, onAnswered }: { readonly data: NowDocument; onAnswered(): void }) {
  return (
    <div class="now">
      <NeedsYou rows={data.needsYou} more={data.more.needsYou} onAnswered={onAnswered} />
      <Answered answered={data.answered} onUndone={onAnswered} />
      <Working data={data} />
      <div class="now-foot">
        <UpNext data={data} />
        <TodayBox today={data.today} data={data} />
        <SinceYouLooked ended={data.ended} />
      </div>
    </div>
  );
}

function Working({ data: { working, more, lastLines } }: { readonly data: NowDocument }) {
  return (
    <section aria-labelledby="working">
      <h2 class="label" id="working">
        Working · {working.length + more.working}
        {working.length > 0 && (
          <span class="hint">
            <Link to="/live">Watch all</Link>
          </span>
        )}
      </h2>
      {working.length === 0 && <p class="muted">Nothing is being worked on.</p>}
      <ul class="rows">
        {working.map((row) => (
          <WorkingItem row={row} last={lastLines[row.id] ?? ""} key={row.id} />
        ))}
      </ul>
      {more.working > 0 && (
        <p>
          <Link to="/stories?view=list&column=working">{more.working} more</Link>
        </p>
      )}
    </section>
  );
}

function WorkingItem({ row, last }: { readonly row: WorkingRow; readonly last: string }) {
  const { id, title, what, since, gates, costUsd, costUnknown } = row;
  return (
    <li class="work" data-row>
      <span class="work-title">
        <Link to={`/story/${id}`} isMain>
          {title}
        </Link>
      </span>
      <span class="muted">{what}</span>
      {last === "" ? (
        <span class="last" />
      ) : (
        <Link to={`/story/${id}#output`} class="last" title={last}>
          <code>{`▸ ${last.replace(/^→ /, "")}`}</code>
        </Link>
      )}
      <Bars gates={gates} />
      <span class="muted number">{costUsd === 0 ? "" : `${costUnknown ? "≥ " : ""}${moneyText(costUsd)}`}</span>
      <span class="muted number">{durationText(Math.max(1000, now.value - since))}</span>
    </li>
  );
}

/** One bar per gate, in order, with text for screen readers. */
function Bars({ gates }: { readonly gates: WorkingRow["gates"] }) {
  return (
    <ul class="gate-bars" aria-label="Gates">
      {gates.map(({ gate, standing }) => (
        <li class={`gate-bar is-${standing}`} title={`${gate}: ${GATE_WORDS[standing] ?? standing}`} key={gate}>
          <span class="unseen">
            {gate}: {GATE_WORDS[standing] ?? standing}
          </span>
        </li>
      ))}
    </ul>
  );
}

const GATE_WORDS: Readonly<Record<string, string>> = { none: "not run yet", running: "running" };

const MOST_SHOWN = 4;

function UpNext({ data: { upNext, more } }: { readonly data: NowDocument }) {
  const rest = upNext.length - MOST_SHOWN + more.upNext;
  return (
    <section class="box" aria-labelledby="up-next">
      <h2 class="label" id="up-next">
        Up next
      </h2>
      {upNext.length === 0 && <p class="muted">Nothing waits.</p>}
      <ul>
        {upNext.slice(0, MOST_SHOWN).map(({ id, title, why, isPaused }) => (
          <li key={id}>
            <Link to={`/story/${id}`}>{title}</Link> <span class="muted">· {isPaused ? "paused" : why}</span>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <p>
          <Link to="/stories">{rest} more</Link>
        </p>
      )}
    </section>
  );
}

function TodayBox({ today, data }: { readonly today: Today; readonly data: NowDocument }) {
  const { accepted, failed, medianAttempts, firstPass } = today;
  const facts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(medianAttempts === null ? [] : [`median ${countText(medianAttempts, "attempt")}`]),
    ...(accepted === 0 ? [] : [`first pass ${Math.round((firstPass / accepted) * 100)} %`]),
  ];
  return (
    <section class="box" aria-labelledby="today">
      <h2 class="label" id="today">
        Today
      </h2>
      <p>
        <strong class="figure">{accepted} accepted</strong> <span class="muted">{facts.join(" · ")}</span>
      </p>
      <p class="muted">
        {countText(data.counts.stories, "story", "stories")} in all, {data.counts.accepted} accepted.{" "}
        <Link to="/cost">What it cost</Link>
      </p>
    </section>
  );
}

const PLACE = "remand-looked";

/** When this page was last left; constant during the visit. */
function useLastVisit(): number {
  const [last] = useState(() => Number(localStorage.getItem(PLACE)) || 0);
  useEffect(() => {
    const leave = (): void => localStorage.setItem(PLACE, String(Date.now()));
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("pagehide", leave);
    };
  }, []);
  return last;
}

function SinceYouLooked({ ended }: { readonly ended: readonly EndedRow[] }) {
  const last = useLastVisit();
  const fresh = last === 0 ? [] : ended.filter(({ at }) => at > last);
  const shown = (fresh.length > 0 ? fresh : ended).slice(0, MOST_SHOWN);
  return (
    <section class="box" aria-labelledby="since">
      <h2 class="label" id="since">
        {fresh.length > 0
          ? `Since you looked (${durationText(Math.max(1000, now.value - last))} ago)`
          : "Last finished"}
      </h2>
      {shown.length === 0 && <p class="muted">Nothing has finished yet.</p>}
      <ul>
        {shown.map(({ id, title, isAccepted, how, attempts, costUsd }) => (
          <li key={id}>
            <span class={isAccepted ? "plus" : "minus"} aria-hidden="true">
              {isAccepted ? "✔" : "✖"}
            </span>{" "}
            <Link to={`/story/${id}`}>{title}</Link>{" "}
            <span class="muted">
              · {how}, {countText(attempts, "attempt")}, {moneyText(costUsd)}
            </span>{" "}
            {isAccepted && <Link to={`/story/${id}/diff`}>diff</Link>}
          </li>
        ))}
      </ul>
    </section>
  );
}
