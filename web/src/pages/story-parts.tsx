import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import type { GateCard } from "../../../src/views/story/story-document.ts";
import { recheckText } from "../../../src/views/story/recheck.ts";
import { FindingItem } from "../parts/finding-item.tsx";
import { KeptText } from "../parts/kept-text.tsx";
import { Badge } from "../parts/marks.tsx";
import { Words } from "../parts/words.tsx";

interface Props {
  readonly story: StoryPageDocument;
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
      <GateRuns runs={runs} evidence={evidence} />
    </li>
  );
}

/** The commands of a gate with their results and evidence. */
export function GateRuns({ runs, evidence }: Pick<GateCard, "runs" | "evidence">) {
  return (
    <>
      {runs.map(({ check, environment, result, details }) => (
        <p class="muted" key={`${check} ${environment}`}>
          <Badge word={result} label={`${check}${environment === "" ? "" : ` in ${environment}`}`} /> {details}
        </p>
      ))}
      {evidence.map((id, index) => (
        <KeptText id={id} label={evidence.length === 1 ? "Evidence" : `Evidence ${index + 1}`} key={id} />
      ))}
    </>
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

/** The cause that blame found, and its confidence. */
export function BlameItem({ gate, blame }: Pick<StoryPageDocument["blames"][number], "gate" | "blame">) {
  return (
    <li>
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
