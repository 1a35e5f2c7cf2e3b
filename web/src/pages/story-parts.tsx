import { useState } from "preact/hooks";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import type { AttemptCard, GateCard } from "../../../src/views/story/story-document.ts";
import { recheckText } from "../../../src/views/story/recheck.ts";
import { durationText, moneyText } from "../../../src/views/text/words.ts";
import { FindingItem } from "../parts/finding-item.tsx";
import { KeptText } from "../parts/kept-text.tsx";
import { Badge } from "../parts/marks.tsx";
import { Words } from "../parts/words.tsx";
import { Link } from "../router.tsx";

interface Props {
  readonly story: StoryPageDocument;
}

/** How many are shown until the user asks for more. */
const SHOWN = 20;

export function Attempts({ story: { attempts, nextBrief, story } }: Props) {
  const [most, setMost] = useState(SHOWN);
  return (
    <section>
      <h2>Attempts</h2>
      {attempts.length === 0 && <p class="muted">None yet.</p>}
      <ol class="attempts">
        {attempts
          .slice(-most)
          .toReversed()
          .map((attempt) => (
            <Attempt attempt={attempt} story={story.id} key={attempt.attempt} />
          ))}
      </ol>
      {attempts.length > most && (
        <button type="button" onClick={() => setMost(most + 100)}>
          {attempts.length - most} earlier
        </button>
      )}
      {nextBrief !== null && <KeptText id={nextBrief} label="The brief of the next attempt" isProse />}
    </section>
  );
}

function Attempt({ attempt, story }: { readonly attempt: AttemptCard; readonly story: string }) {
  const { attempt: number, phase, role, reworkOf, outcome, summary, failed, costUsd, startedAt, endedAt } = attempt;
  const facts = [
    `${phase} by ${role}`,
    ...(reworkOf === null ? [] : [`rework after ${reworkOf}`]),
    ...(endedAt === null ? [] : [durationText(endedAt - startedAt)]),
    ...(costUsd === null ? [] : [moneyText(costUsd)]),
    ...(attempt.isolation === null ? [] : [`sandbox: ${attempt.isolation}`]),
  ];
  return (
    <li class={failed === "" ? "" : "was-failed"}>
      <h3>
        Attempt {number} <Badge word={failed !== "" ? "rejected" : outcome === "ready" ? "done" : outcome} />
      </h3>
      <p class="muted">{facts.join(" · ")}</p>
      {summary !== "" && (
        <p>
          <Words text={summary} />
        </p>
      )}
      {failed !== "" && (
        <p class="card-finding">
          <Words text={failed} />
        </p>
      )}
      {endedAt !== null && attempt.changed.length > 0 && (
        <p>
          <Link to={`/story/${story}/diff?attempt=${number}`}>What it changed</Link>
        </p>
      )}
      {attempt.brief !== null && <KeptText id={attempt.brief} label="The brief it got" isProse />}
      {attempt.message !== null && <KeptText id={attempt.message} label="What it said" isProse />}
    </li>
  );
}

export function Gates({ story: { gates, waivers } }: Props) {
  if (gates.length === 0) return null;
  return (
    <section>
      <h2>Gates</h2>
      <ul class="gates">
        {gates.map((gate) => (
          <Gate gate={gate} key={gate.gate} />
        ))}
      </ul>
      {waivers.map(({ gate, by, reason, at }) => (
        <p class="muted" key={at}>
          {gate} waived by {by}: {reason}
        </p>
      ))}
    </section>
  );
}

function Gate({ gate: { gate, result, summary, counted, runs, evidence } }: { readonly gate: GateCard }) {
  return (
    <li>
      <h3>
        {gate} <Badge word={result ?? "not judged"} />
      </h3>
      {summary !== "" && <p class="muted">{summary}</p>}
      {counted !== "" && <p class="muted">{counted}</p>}
      {runs.map(({ check, environment, result: each, details }) => (
        <p class="muted" key={`${check} ${environment}`}>
          <Badge word={each} label={`${check}${environment === "" ? "" : ` in ${environment}`}`} /> {details}
        </p>
      ))}
      {evidence.map((id, index) => (
        <KeptText id={id} label={evidence.length === 1 ? "Evidence" : `Evidence ${index + 1}`} key={id} />
      ))}
    </li>
  );
}

export function Criteria({ story: { criteria } }: Props) {
  if (criteria.length === 0) return null;
  return (
    <section>
      <h2>Criteria</h2>
      <ul class="criteria">
        {criteria.map(({ id, text, status, evidence }) => (
          <li key={id}>
            <Badge word={status} label={`${id} ${status === "unknown" ? "not judged" : status}`} />
            <span>
              {text}
              {evidence !== "" && <span class="muted"> — {evidence}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Findings({ story: { findings, story } }: Props) {
  if (findings.length === 0) return null;
  return (
    <section>
      <h2>Findings</h2>
      <ul class="findings">
        {findings.map((finding) => (
          <FindingItem finding={finding} story={story.id} key={`${finding.gate} ${finding.id}`} />
        ))}
      </ul>
    </section>
  );
}

export function Blames({ story: { blames } }: Props) {
  if (blames.length === 0) return null;
  return (
    <section>
      <h2>Blame</h2>
      <ul class="findings">
        {blames.map(({ gate, at, blame }) => (
          <li key={at}>
            <p>
              <Badge word={blame.basis} label={`${blame.verdict}, ${blame.basis}`} /> after {gate},{" "}
              {Math.round(blame.confidence * 100)} % sure
            </p>
            <p>
              <Words text={blame.explanation} />
            </p>
            {blame.suspects.map((suspect) => (
              <p class="muted" key={`${suspect.file}:${suspect.line}`}>
                <code>
                  {suspect.file}:{suspect.line}
                </code>{" "}
                <Words text={`${suspect.change}. ${suspect.reasons.join("; ")}`} />
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ReJudged({ story: { reJudged } }: Props) {
  if (reJudged.length === 0) return null;
  return (
    <section>
      <h2>Gates that ran again, and results that were kept</h2>
      <pre tabIndex={0}>{recheckText(reJudged).join("\n")}</pre>
    </section>
  );
}
