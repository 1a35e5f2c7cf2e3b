import { useEffect, useState } from "preact/hooks";
import type { AnswerVerb, EscalationOption } from "../../../src/core/stories/escalation.ts";
import { ANSWER_LABELS } from "../../../src/views/answers/likely-answers.ts";
import { countText } from "../../../src/stdx/plain-text.ts";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import { durationText } from "../../../src/views/text/words.ts";
import { now } from "../clock.ts";
import { isReadOnly } from "../hello.ts";
import { Answered } from "../parts/answered.tsx";
import { AnswerForm } from "../parts/answer-form.tsx";
import { Convergence } from "../parts/convergence.tsx";
import { Copy } from "../parts/copy.tsx";
import { Delivery } from "../parts/delivery.tsx";
import { Export } from "../parts/export.tsx";
import { Gantt } from "../parts/gantt.tsx";
import { Hold } from "../parts/hold.tsx";
import { Answers } from "../parts/needs-you.tsx";
import { Loading } from "../parts/loading.tsx";
import { StoryOutput } from "../parts/output-pane.tsx";
import { MarkdownView } from "../parts/markdown-view.tsx";
import { Money, StateBadge, Why } from "../parts/marks.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { Words } from "../parts/words.tsx";
import { optionsWhenAccepted, unaskedOptions } from "../parts/unasked.ts";
import { Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useLines } from "../use-lines.ts";
import { useTitle } from "../use-title.ts";
import { Attempts } from "./story-attempts.tsx";
import { Criteria, Findings, Gates, ReJudged } from "./story-parts.tsx";

/** One story: its task, its attempts, its findings, and what comes next. */
export function Story({ id }: { readonly id: string }) {
  const loaded = useDocument<StoryPageDocument>(`/stories/${id}`, (line) => line.story === id || line.story === null);
  // Loaded in parallel with the story.
  const lines = useLines(id);
  useTitle(loaded.data?.story.title ?? id);
  const isLoaded = loaded.data !== null;
  useEffect(() => {
    if (isLoaded && location.hash === "#output") document.getElementById("output")?.scrollIntoView();
  }, [isLoaded]);
  return (
    <Loading loaded={loaded}>
      {(story) => (
        <>
          <Head story={story} onChanged={loaded.reload} />
          <Next story={story} onAnswered={loaded.reload} />
          <Answered answered={story.answered === null ? [] : [story.answered]} onUndone={loaded.reload} />
          <Gantt lines={lines} isRunning={story.isRunning && story.card.since !== null} />
          <Convergence rounds={story.rounds} />
          <div class="story">
            <div class="story-main">
              <Attempts story={story} />
              <section id="output">
                <h2>Output</h2>
                <StoryOutput story={id} />
              </section>
              <Timeline lines={lines} />
              <ReJudged story={story} />
            </div>
            <div class="story-side">
              <Criteria story={story} />
              <Findings story={story} />
              <Gates story={story} />
              <section>
                <h2>What was asked for</h2>
                <MarkdownView text={story.story.body} />
              </section>
            </div>
          </div>
        </>
      )}
    </Loading>
  );
}

function Head({ story: document, onChanged }: ActionsProps) {
  const { card, story, branch, commit, place } = document;
  const facts = [
    story.id,
    countText(card.attempt, "attempt"),
    ...(card.reworks > 0 ? [countText(card.reworks, "rework")] : []),
    durationText(card.timeMs),
  ];
  const command = `remand show ${story.id}`;
  return (
    <>
      <div class="head">
        <h1>{story.title}</h1>
        <p class="summary">
          <StateBadge card={card} />
          <span>{facts.join(" · ")}</span>
          <Money usd={card.costUsd} unknown={card.costUnknown} limit={card.costLimitUsd} />
        </p>
        {document.escalation === null && (
          <p class="why">
            <Why card={card} />
          </p>
        )}
      </div>
      <div class="tools">
        {commit !== "" && (
          <Link to={`/story/${story.id}/diff`} class="button">
            Diff and blame
          </Link>
        )}
        {story.kind !== "loop" && (
          <Link to={`/story/${story.id}/edit`} class="button">
            Edit
          </Link>
        )}
        <Export path={`/stories/${story.id}/export`} file={`${story.id}.html`} label="Save as one HTML file" />
        <Delivery story={document} />
        <Actions story={document} onChanged={onChanged} />
      </div>
      <div class="copies">
        <Copy text={command} />
        {branch !== null && commit !== "" && (
          <Copy text={`git switch ${branch}`} label={`${branch} at ${commit.slice(0, 8)}`} />
        )}
        {place !== null && <Copy text={`cd ${place}`} label={place} />}
      </div>
    </>
  );
}

/** The next step, and who must take it. */
function Next({ story, onAnswered }: { readonly story: StoryPageDocument; onAnswered(): void }) {
  const { card, escalation } = story;
  const { dependsOn } = story.story;
  if (escalation !== null)
    return (
      <div class="next person">
        <p>
          <strong>{story.deferred === null ? "Needs you." : `Deferred by ${story.deferred.by}.`}</strong>{" "}
          <Words text={escalation.question} /> <Link to={`/question/${escalation.id}`}>Answer it</Link>
        </p>
        <Answers abouts={[escalation.id]} answers={story.likely} onAnswered={onAnswered} />
      </div>
    );
  if (card.nextAt !== null)
    return (
      <p class="next">
        Next: attempt {card.attempt + 1} in {durationText(Math.max(0, card.nextAt - now.value))}
      </p>
    );
  if (dependsOn.length === 0 || card.actor !== "story") return null;
  return (
    <p class="next">
      Waits for{" "}
      {dependsOn.map((id) => (
        <Link to={`/story/${id}`} key={id}>
          {id}{" "}
        </Link>
      ))}
    </p>
  );
}

interface ActionsProps {
  readonly story: StoryPageDocument;
  onChanged(): void;
}

/** The person's actions: pause or resume, deliver accepted work, and answers that no question asks for. */
function Actions({ story, onChanged }: ActionsProps) {
  const [verb, setVerb] = useState<AnswerVerb | null>(null);
  const isOpen = story.card.endedAt === null && story.escalation === null && story.phases.length > 0;
  const options = isOpen ? unaskedOptions(story) : optionsWhenAccepted(story);
  const button = (option: EscalationOption) => (
    <button
      type="button"
      aria-expanded={verb === option.verb}
      disabled={isReadOnly()}
      onClick={() => setVerb(verb === option.verb ? null : option.verb)}
      key={option.verb}
    >
      {ANSWER_LABELS[option.verb]}…
    </button>
  );
  // Without a question, people mostly send work back; more actions would hide that one.
  const shown = isOpen ? 1 : options.length;
  return (
    <>
      <Hold story={story} onChanged={onChanged} />
      {options.slice(0, shown).map(button)}
      {options.length > shown && (
        <details class="menu">
          <summary>More</summary>
          <div>{options.slice(shown).map(button)}</div>
        </details>
      )}
      {verb !== null && (
        <AnswerForm
          about={story.story.id}
          options={options.filter((option) => option.verb === verb)}
          findings={story.findings.filter(({ standing }) => standing !== "resolved")}
          disputable={story.disputable}
          phases={story.phases}
          picked={verb}
          onAnswered={() => {
            setVerb(null);
            onChanged();
          }}
          key={verb}
        />
      )}
    </>
  );
}
