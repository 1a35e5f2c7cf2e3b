import { countText } from "../../../src/stdx/plain-text.ts";
import type { StoryPageDocument } from "../../../src/views/board/dashboard.ts";
import { durationText } from "../../../src/views/text/words.ts";
import { now } from "../clock.ts";
import { Answered } from "../parts/answered.tsx";
import { AnswerForm } from "../parts/answer-form.tsx";
import { Copy } from "../parts/copy.tsx";
import { Export } from "../parts/export.tsx";
import { Hold } from "../parts/hold.tsx";
import { Loading } from "../parts/loading.tsx";
import { MarkdownView } from "../parts/markdown-view.tsx";
import { Badge, Money, Why } from "../parts/marks.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { Words } from "../parts/words.tsx";
import { unaskedOptions } from "../parts/unasked.ts";
import { Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useLines } from "../use-lines.ts";
import { useTitle } from "../use-title.ts";
import { Attempts, Blames, Criteria, Findings, Gates, ReJudged } from "./story-parts.tsx";

/** One story: what was asked for, what was tried, what was found, and what comes next. */
export function Story({ id }: { readonly id: string }) {
  const loaded = useDocument<StoryPageDocument>(`/stories/${id}`, (line) => line.story === id || line.story === null);
  // Asked for beside the story, not after it.
  const lines = useLines(id);
  useTitle(loaded.data?.story.title ?? id);
  return (
    <Loading loaded={loaded}>
      {(story) => (
        <>
          <Head story={story} />
          <Next story={story} />
          <Hold story={story} onChanged={loaded.reload} />
          <Answered answered={story.answered === null ? [] : [story.answered]} onUndone={loaded.reload} />
          <div class="story">
            <div class="story-side">
              <Attempts story={story} />
              <Gates story={story} />
            </div>
            <div class="story-main">
              <Criteria story={story} />
              <Findings story={story} />
              <Blames story={story} />
              <Timeline lines={lines} />
              <ReJudged story={story} />
              <section>
                <h2>What was asked for</h2>
                <MarkdownView text={story.story.body} />
              </section>
              <Act story={story} onAnswered={loaded.reload} />
            </div>
          </div>
        </>
      )}
    </Loading>
  );
}

function Head({ story: { card, story, branch, commit, place } }: { readonly story: StoryPageDocument }) {
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
          <Badge word={card.status} />
          <span>{facts.join(" · ")}</span>
          <Money usd={card.costUsd} unknown={card.costUnknown} limit={card.costLimitUsd} />
        </p>
        <p class="why">
          <Why card={card} />
        </p>
      </div>
      <div class="tools">
        {commit !== "" && <Link to={`/story/${story.id}/diff`}>Diff and blame</Link>}
        <Export id={story.id} />
        <Copy text={command} />
        {branch !== null && commit !== "" && (
          <Copy text={`git switch ${branch}`} label={`${branch} at ${commit.slice(0, 8)}`} />
        )}
        {place !== null && <Copy text={`cd ${place}`} label={place} />}
      </div>
    </>
  );
}

/** What comes next, and whose turn it is. */
function Next({ story: { card, escalation, story } }: { readonly story: StoryPageDocument }) {
  if (escalation !== null)
    return (
      <p class="next person">
        <strong>Needs you.</strong> <Words text={escalation.question} />{" "}
        <Link to={`/question/${escalation.id}`}>Answer it</Link>
      </p>
    );
  if (card.nextAt !== null)
    return (
      <p class="next">
        Next: attempt {card.attempt + 1} in {durationText(Math.max(0, card.nextAt - now.value))}
      </p>
    );
  if (story.dependsOn.length === 0 || card.actor !== "story") return null;
  return (
    <p class="next">
      Waits for{" "}
      {story.dependsOn.map((id) => (
        <Link to={`/story/${id}`} key={id}>
          {id}{" "}
        </Link>
      ))}
    </p>
  );
}

function Act({ story, onAnswered }: { readonly story: StoryPageDocument; onAnswered(): void }) {
  if (story.card.endedAt !== null || story.escalation !== null || story.phases.length === 0) return null;
  return (
    <section>
      <h2>Say something about it</h2>
      <details class="kept">
        <summary>Send it back, let something through, or end it</summary>
        <AnswerForm
          about={story.story.id}
          options={unaskedOptions(story)}
          findings={story.findings.filter(({ standing }) => standing !== "resolved")}
          disputable={story.disputable}
          phases={story.phases}
          onAnswered={onAnswered}
        />
      </details>
    </section>
  );
}
