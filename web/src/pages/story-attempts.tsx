import { useState } from "preact/hooks";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import type { DiffDocument } from "../../../src/views/story/diff-document.ts";
import type { AttemptCard, AttemptDocument, AttemptGate } from "../../../src/views/story/story-document.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import { durationText, moneyText } from "../../../src/views/text/words.ts";
import { KeptText } from "../parts/kept-text.tsx";
import { Loading } from "../parts/loading.tsx";
import { Badge } from "../parts/marks.tsx";
import { StoryOutput } from "../parts/output-pane.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Words } from "../parts/words.tsx";
import { Link, searchParam, setSearchParam } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { BlameItem, GateRuns } from "./story-parts.tsx";

/** How many tabs are shown until the user asks for more. */
const SHOWN = 8;

/** A tab per attempt: its reason, its message and changes, the gate that rejected it, and the blame. */
export function Attempts({ story }: { readonly story: StoryPageDocument }) {
  const { attempts, nextBrief } = story;
  const [most, setMost] = useState(SHOWN);
  const wanted = Number(searchParam("attempt")) || (attempts.at(-1)?.attempt ?? 0);
  const chosen = attempts.find(({ attempt }) => attempt === wanted) ?? attempts.at(-1);
  const shown = attempts.filter((attempt, index) => index >= attempts.length - most || attempt === chosen);
  const left = attempts.length - shown.length;
  return (
    <section aria-labelledby="attempts">
      <div class="section-head">
        <h2 id="attempts">Attempts</h2>
        {left > 0 && (
          <button type="button" onClick={() => setMost(attempts.length)}>
            {left} earlier
          </button>
        )}
      </div>
      {chosen === undefined ? (
        <p class="muted">None yet.</p>
      ) : (
        <Tabs
          label="Attempts"
          items={shown.map((each) => ({ id: String(each.attempt), label: <TabLabel attempt={each} /> }))}
          selected={String(chosen.attempt)}
          onSelect={(id) => setSearchParam("attempt", id)}
        >
          <Attempt attempt={chosen} story={story} key={chosen.attempt} />
        </Tabs>
      )}
      {nextBrief !== null && <KeptText id={nextBrief} label="The brief of the next attempt" isProse />}
    </section>
  );
}

const wordOf = ({ failed, outcome }: AttemptCard): string =>
  failed !== "" ? "rejected" : outcome === "ready" ? "done" : outcome;

function TabLabel({ attempt }: { readonly attempt: AttemptCard }) {
  return (
    <>
      Attempt {attempt.attempt} <Badge word={wordOf(attempt)} />
    </>
  );
}

function Attempt({ attempt, story }: { readonly attempt: AttemptCard; readonly story: StoryPageDocument }) {
  const { attempt: number, phase, role, reworkOf, summary, failed, costUsd, startedAt, endedAt } = attempt;
  const { id } = story.story;
  const facts = [
    `${phase} by ${role}`,
    ...(reworkOf === null ? [] : [`rework after ${reworkOf}`]),
    ...(endedAt === null ? [] : [durationText(endedAt - startedAt)]),
    ...(costUsd === null ? [] : [moneyText(costUsd)]),
    ...(attempt.isolation === null ? [] : [`sandbox: ${attempt.isolation}`]),
  ];
  return (
    <>
      <p class="muted">{facts.join(" · ")}</p>
      {failed !== "" && (
        <p class="card-finding">
          <Words text={failed} />
        </p>
      )}
      {summary !== "" && (
        <p>
          <strong>Said:</strong> <Words text={summary} />
        </p>
      )}
      <Judged id={id} attempt={number} />
      {endedAt === null ? (
        <StoryOutput story={id} step={`attempt ${number}`} />
      ) : (
        attempt.changed.length > 0 && <Changed id={id} attempt={number} files={attempt.changed} />
      )}
      {attempt.brief !== null && <KeptText id={attempt.brief} label="The brief it got" isProse />}
      {attempt.message !== null && <KeptText id={attempt.message} label="What it said" isProse />}
      {attempt.transcript !== null && <KeptText id={attempt.transcript} label="What it printed" />}
    </>
  );
}

/** The gates' results for an attempt; failed gates first, and failing tests first within them. */
function Judged({ id, attempt }: { readonly id: string; readonly attempt: number }) {
  const loaded = useDocument<AttemptDocument>(
    `/stories/${id}/attempts/${attempt}`,
    ({ story, type }) =>
      story === id && (type === "gate.judged" || type === "blame.found" || type === "work.sent-back"),
  );
  return (
    <Loading loaded={loaded}>
      {({ gates, blames }) => (
        <>
          {gates.length === 0 && <p class="muted">No gate has run over it.</p>}
          <ul class="judged">
            {gates.map((gate) => (
              <JudgedGate gate={gate} story={id} key={`${gate.gate} ${gate.at}`} />
            ))}
          </ul>
          {blames.length > 0 && (
            <ul class="findings">
              {blames.map((each) => (
                <BlameItem {...each} key={each.at} />
              ))}
            </ul>
          )}
        </>
      )}
    </Loading>
  );
}

function JudgedGate({ gate, story }: { readonly gate: AttemptGate; readonly story: string }) {
  const { result, tests, findings, findingsLeftOut, runs, evidence } = gate;
  const facts = [
    durationText(gate.durationMs),
    ...(tests === null ? [] : [`${tests.failed} of ${countText(tests.total, "test")} failed`]),
  ];
  return (
    <li class={result === "fail" ? "was-failed" : ""}>
      <details open={result !== "pass"}>
        <summary>
          <Badge word={result} label={`${gate.gate}: ${result}`} /> <span class="muted">{facts.join(" · ")}</span>
        </summary>
        <ul class="plain-list">
          {findings.map((finding) => (
            <li key={finding.id}>
              <p>
                {finding.isBlocking && <strong>Blocking: </strong>}
                {finding.file !== undefined && <FindingLink story={story} finding={finding} />}{" "}
                <Words text={finding.message} />
              </p>
              {finding.detail !== undefined && finding.detail !== "" && <pre tabIndex={0}>{finding.detail}</pre>}
            </li>
          ))}
        </ul>
        {findingsLeftOut > 0 && <p class="muted">and {findingsLeftOut} more</p>}
        {findings.length === 0 && gate.summary !== "" && <p class="muted">{gate.summary}</p>}
        <GateRuns runs={runs} evidence={evidence} />
      </details>
    </li>
  );
}

function FindingLink({
  story,
  finding,
}: {
  readonly story: string;
  readonly finding: AttemptGate["findings"][number];
}) {
  const where = `${finding.file}${finding.line === undefined ? "" : `:${finding.line}`}`;
  return (
    <Link to={`/story/${story}/diff#${encodeURIComponent(where)}`}>
      <code>{where}</code>
    </Link>
  );
}

interface ChangedProps {
  readonly id: string;
  readonly attempt: number;
  readonly files: readonly string[];
}

/** The attempt's own diff, loaded when it is opened. */
function Changed({ id, attempt, files }: ChangedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="kept" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What it changed: {countText(files.length, "file")}</summary>
      {isOpen && <SmallDiff id={id} attempt={attempt} />}
      <p>
        <Link to={`/story/${id}/diff?attempt=${attempt}`}>Open the diff</Link>
      </p>
    </details>
  );
}

const SIGNS = { added: "+", removed: "−", same: " " } as const;

function SmallDiff({ id, attempt }: Omit<ChangedProps, "files">) {
  const loaded = useDocument<DiffDocument>(`/stories/${id}/diff?attempt=${attempt}`, () => false, false);
  return (
    <Loading loaded={loaded}>
      {({ files }) => (
        <>
          {files.map(({ path, hunks, added, removed }) => (
            <div key={path}>
              <p>
                <code>{path}</code> <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
              </p>
              <pre tabIndex={0} class="small-diff">
                {hunks
                  .flatMap(({ lines }) => lines)
                  .map(({ kind, text }, index) => (
                    <span class={kind} key={index}>{`${SIGNS[kind]} ${text}\n`}</span>
                  ))}
              </pre>
            </div>
          ))}
        </>
      )}
    </Loading>
  );
}
