import { countText } from "../../../src/stdx/plain-text.ts";
import { locationText, statusText } from "../../../src/core/gates/tried-finding.ts";
import type { InboxDocument, InboxEntry } from "../../../src/views/board/dashboard.ts";
import { findingText } from "../../../src/views/story/finding-text.ts";
import { Answered } from "../parts/answered.tsx";
import { AnswerForm } from "../parts/answer-form.tsx";
import { Loading } from "../parts/loading.tsx";
import { MarkdownView } from "../parts/markdown-view.tsx";
import { Ago } from "../parts/marks.tsx";
import { Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

const MATTERS = new Set([
  "escalation.raised",
  "person.answered",
  "story.accepted",
  "story.failed",
  "health.checked",
  "answer.undone",
  "attempt.started",
  "gate.started",
  "story.held",
]);

/** What waits for a person: the question, why now, what was tried, and what each answer will do. */
export function Inbox() {
  useTitle("Inbox");
  const loaded = useDocument<InboxDocument>("/inbox", ({ type }) => MATTERS.has(type));
  return (
    <>
      <div class="head">
        <h1>Inbox</h1>
        {loaded.data !== null && loaded.data.items.length > 0 && (
          <p class="summary">{countText(loaded.data.items.length, "question")} for you</p>
        )}
      </div>
      <Loading loaded={loaded}>
        {({ items, answered }) => (
          <div class="inbox">
            {items.length === 0 && <p class="empty">Nothing waits for you.</p>}
            {items.map((item) => (
              <Question item={item} onAnswered={loaded.reload} key={item.id} />
            ))}
            <Answered answered={answered} onUndone={loaded.reload} />
          </div>
        )}
      </Loading>
    </>
  );
}

function Question({ item, onAnswered }: { readonly item: InboxEntry; onAnswered(): void }) {
  const { escalation, findings, story } = item;
  const budget = escalation.reason.type === "budget" ? { budget: escalation.reason.budget } : {};
  return (
    <article class="question" id={item.id} aria-labelledby={`${item.id}-title`}>
      <p class="muted">
        {story === null ? "The whole run" : <Link to={`/story/${story}`}>{item.title}</Link>} · {item.kind}
        {escalation.gate !== null && ` · ${escalation.gate} gate`}
        {item.askedAt !== null && (
          <>
            {" "}
            · <Ago at={item.askedAt} />
          </>
        )}
      </p>
      <h2 id={`${item.id}-title`}>{item.question}</h2>
      <dl class="facts">
        <dt>Why now</dt>
        <dd>{item.reason}</dd>
        <dt>What is known</dt>
        <dd>
          <MarkdownView text={item.assessment} />
        </dd>
        <dt>Advice</dt>
        <dd>{item.recommendation}</dd>
      </dl>
      <Tried item={item} />
      {findings.length > 0 && (
        <ul class="findings" aria-label="What was found">
          {findings.slice(0, 10).map((finding) => (
            <li key={finding.id}>
              <p class="muted">
                {finding.severity} · {finding.source}
              </p>
              <p>{findingText(finding, 400)}</p>
            </li>
          ))}
        </ul>
      )}
      <AnswerForm
        about={item.id}
        options={item.answers}
        findings={findings}
        disputable={item.disputable.map(({ finding }) => finding)}
        phases={[]}
        {...budget}
        onAnswered={onAnswered}
      />
    </article>
  );
}

function Tried({ item: { escalation, story } }: { readonly item: InboxEntry }) {
  if (escalation.attempts.length === 0) return null;
  return (
    <details class="kept" open={escalation.attempts.length <= 3}>
      <summary>What was tried ({escalation.attempts.length})</summary>
      <ol class="tried">
        {escalation.attempts.map(({ attempt, tried, failed, findings = [], findingsLeftOut = 0 }) => (
          <li key={attempt}>
            <p>
              <strong>Attempt {attempt}:</strong> {tried}
            </p>
            {failed !== "" && <p class="card-finding">{failed}</p>}
            {findings.length > 0 && (
              <ul class="findings" aria-label={`Findings of attempt ${attempt}`}>
                {findings.map((finding) => (
                  <li key={`${finding.gate} ${finding.id}`}>
                    <p class="muted">
                      {finding.gate} · {statusText(finding)}
                    </p>
                    <p>
                      {finding.file !== undefined && `${locationText(finding)}: `}
                      {finding.title}
                    </p>
                  </li>
                ))}
                {findingsLeftOut > 0 && <li>{countText(findingsLeftOut, "more finding")}</li>}
              </ul>
            )}
          </li>
        ))}
      </ol>
      {story !== null && escalation.commit !== "" && (
        <p>
          <Link to={`/story/${story}/diff`}>The work as it is now</Link>, {escalation.branch} at{" "}
          {escalation.commit.slice(0, 8)}
        </p>
      )}
    </details>
  );
}
