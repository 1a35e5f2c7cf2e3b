import { useState } from "preact/hooks";
import type { EngineDocument, StoriesPausedDocument } from "../../src/views/board/dashboard.ts";
import { countText } from "../../src/stdx/plain-text.ts";
import { durationText, moneyText } from "../../src/views/text/words.ts";
import { refusalText, say } from "./ask.ts";
import { now } from "./clock.ts";
import { hello, isReadOnly } from "./hello.ts";
import { go } from "./router.tsx";
import { addReceipt } from "./parts/receipts.tsx";
import { connection } from "./stream.ts";
import { pageTitle } from "./use-title.ts";
import { asRefusal } from "./use-document.ts";

const STATES: { readonly [S in EngineDocument["state"]]: readonly [sign: string, text: string, tone: string] } = {
  running: ["●", "Engine running", "good"],
  stopped: ["○", "No engine", "plain"],
  gone: ["✖", "Engine gone", "bad"],
  fleet: ["●", "Fleet", "calm"],
};

/** Shown on every page: the state of the engine, running agents and cost, with buttons to pause, resume or start it. */
export function EngineBar() {
  const data = hello.value;
  const engine = data?.engine;
  return (
    <section class="topbar" aria-label="Engine">
      <p class="page-name" aria-hidden="true">
        {pageTitle.value}
      </p>
      {data !== null && engine !== undefined && (
        <>
          <p class={`engine ${STATES[engine.state][2]}`}>
            <span aria-hidden="true">{STATES[engine.state][0]}</span> {STATES[engine.state][1]}
          </p>
          <p class="muted engine-facts">{factsOf(data).join(" · ")}</p>
        </>
      )}
      <EngineActions />
    </section>
  );
}

function factsOf({
  engine,
  spentUsd,
  costUnknown,
  limitUsd,
  paused,
}: NonNullable<typeof hello.value>): readonly string[] {
  const { since, busy, most, state } = engine;
  const isWorking = state === "running" || state === "fleet";
  return [
    ...(since === null ? [] : [minutesText(now.value - since)]),
    ...(isWorking
      ? [most === null ? countText(busy, "agent busy", "agents busy") : `${busy} of ${most} agents busy`]
      : []),
    costUnknown && spentUsd === 0
      ? "cost unknown"
      : `${costUnknown ? "at least " : ""}${moneyText(spentUsd)}${limitUsd === null ? "" : ` of ${moneyText(limitUsd)}`}`,
    ...(paused > 0 ? [`${paused} paused`] : []),
  ];
}

/** Whole minutes, because a number that changes each second distracts. */
const minutesText = (ms: number): string => durationText(Math.max(60_000, Math.floor(ms / 60_000) * 60_000));

async function act(path: string, text: (done: StoriesPausedDocument) => string): Promise<void> {
  try {
    addReceipt(text(await say<StoriesPausedDocument>(path, {})));
  } catch (error) {
    addReceipt(refusalText(asRefusal(error)));
  }
}

function EngineActions() {
  const [isBusy, setBusy] = useState(false);
  const data = hello.value;
  if (data === null || !data.hasJournal) return null;
  const run = (work: Promise<void>): void => {
    setBusy(true);
    void work.finally(() => setBusy(false));
  };
  const isOff = isReadOnly() || isBusy;
  const stories = (done: StoriesPausedDocument): string => countText(done.stories.length, "story", "stories");
  const pause = (): void => run(act("/pause-all", (done) => `Paused ${stories(done)}. What runs ends by itself.`));
  const resume = (): void => run(act("/resume-all", (done) => `Resumed ${stories(done)}.`));
  const canStart = data.engine.state === "stopped" || data.engine.state === "gone";
  return (
    <div class="engine-actions">
      {data.paused > 0 && (
        <button type="button" disabled={isOff} onClick={resume}>
          Resume all
        </button>
      )}
      {data.engine.state === "running" && (
        <button type="button" disabled={isOff} onClick={pause}>
          Pause all
        </button>
      )}
      {canStart && <StartButton isOff={isOff} run={run} />}
      <button type="button" disabled={isReadOnly()} onClick={() => go("/new")}>
        New story <kbd aria-hidden="true">c</kbd>
      </button>
    </div>
  );
}

function StartButton({ isOff, run }: { readonly isOff: boolean; run(work: Promise<void>): void }) {
  return (
    <button
      type="button"
      class="primary"
      disabled={isOff}
      onClick={() => run(act("/start-engine", () => "Engine started: remand run --watch."))}
    >
      Start engine
    </button>
  );
}

/** Shows that the work has stopped, which no other part of the page does. */
export function EngineBanner() {
  const state = hello.value?.engine.state;
  if (connection.value === "lost")
    return (
      <p class="banner" role="alert">
        <strong>Not connected.</strong> The dashboard's server does not answer: what you see may be old. Start it again
        with <code>remand serve</code>; this page reconnects by itself.
      </p>
    );
  if (state !== "gone") return null;
  return (
    <p class="banner" role="alert">
      <strong>The engine is gone.</strong> It ended without a word while stories were under way, and nothing is working
      on them now. Start an engine to continue: nothing that finished is done twice.
    </p>
  );
}
