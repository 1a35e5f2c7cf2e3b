import type { CodeAround, QuestionDocument, TryRow } from "../../../src/views/board/dashboard.ts";
import { deferredText, moneyText } from "../../../src/views/text/words.ts";
import { createHighlighter, mergeParts } from "../highlight.ts";
import { AnswerForm } from "../parts/answer-form.tsx";
import { CodeParts } from "../parts/hunk-table.tsx";
import { Loading } from "../parts/loading.tsx";
import { Ago } from "../parts/marks.tsx";
import { Words } from "../parts/words.tsx";
import { go, Link } from "../router.tsx";
import { useDocument } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

/** One question: the related code, the attempts, and the answers, with the recommended one first. */
export function Question({ id }: { readonly id: string }) {
  const loaded = useDocument<QuestionDocument>(`/questions/${id}`, ({ story }) => story === null || id.includes(story));
  useTitle(loaded.data?.title ?? "Question");
  return <Loading loaded={loaded}>{(question) => <Body question={question} />}</Loading>;
}

function Body({ question }: { readonly question: QuestionDocument }) {
  const { id, story, title, escalation, findings, disputable, likely, code, tries, askedAt } = question;
  const budget = escalation.reason.type === "budget" ? { budget: escalation.reason.budget } : {};
  return (
    <article class="ask" aria-labelledby="question">
      <p class="muted">
        {story === null ? "The whole run" : <Link to={`/story/${story}`}>{title}</Link>}
        {escalation.gate !== null && ` · ${escalation.gate} gate`}
        {askedAt !== null && (
          <>
            {" · asked "}
            <Ago at={askedAt} />
          </>
        )}
      </p>
      <h1 id="question">
        <Words text={question.question} />
      </h1>
      <p>
        <Words text={question.assessment} />
      </p>
      {question.deferred !== null && (
        <p class="muted">
          <Words text={deferredText(question.deferred)} />
        </p>
      )}
      {code !== null && <Code code={code} story={story ?? ""} />}
      {tries.length > 0 && <Tries tries={tries} story={story ?? ""} />}
      <section aria-labelledby="answers">
        <h2 id="answers">Answers</h2>
        <p class="advice">
          <strong>Advice:</strong> <Words text={question.recommendation} />
        </p>
        <AnswerForm
          about={id}
          options={inOrder(question, likely)}
          findings={findings}
          disputable={disputable.map(({ finding }) => finding)}
          phases={[]}
          {...budget}
          raise={likely.find(({ verb }) => verb === "raise-budget")?.raise}
          reason={escalation.reason}
          onAnswered={() => go("/")}
        />
      </section>
    </article>
  );
}

const inOrder = ({ answers }: QuestionDocument, likely: QuestionDocument["likely"]): QuestionDocument["answers"] => [
  ...likely.flatMap(({ verb }) => answers.find((answer) => answer.verb === verb) ?? []),
  ...answers.filter(({ verb }) => !likely.some((each) => each.verb === verb)),
];

function Code({ code, story }: { readonly code: CodeAround; readonly story: string }) {
  const { file, line, title, first, lines } = code;
  const highlight = createHighlighter(file);
  return (
    <figure class="code-around">
      <figcaption>
        <Link to={`/story/${story}/diff#${encodeURIComponent(`${file}:${line}`)}`}>
          <code>
            {file}:{line}
          </code>
        </Link>{" "}
        <Words text={title} />
      </figcaption>
      <pre tabIndex={0}>
        {lines.map((text, index) => (
          <span class={first + index === line ? "is-found" : ""} key={index}>
            <span class="line-number">{String(first + index).padStart(4)}</span>
            {"  "}
            <CodeParts parts={mergeParts(highlight(text), undefined)} />
            {"\n"}
          </span>
        ))}
      </pre>
    </figure>
  );
}

function Tries({ tries, story }: { readonly tries: readonly TryRow[]; readonly story: string }) {
  return (
    <section aria-labelledby="tries">
      <h2 id="tries">What was tried</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Attempts">
        <table class="tries">
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Said</th>
              <th scope="col">Changed</th>
              <th scope="col">Failed by</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {tries.map(({ attempt, said, changed, failed, costUsd }) => (
              <tr key={attempt}>
                <th scope="row" data-label="Attempt">
                  <Link to={`/story/${story}/diff?attempt=${attempt}`}>{attempt}</Link>
                </th>
                <td data-label="Said">
                  <Words text={said} />
                </td>
                <td data-label="Changed">
                  {changed.length === 0 ? <span class="muted">nothing</span> : <Files files={changed} />}
                </td>
                <td data-label="Failed by">
                  <ul>
                    {failed.map((each) => (
                      <li key={each}>
                        <Words text={each} />
                      </li>
                    ))}
                  </ul>
                </td>
                <td class="number" data-label="Cost">
                  {costUsd === null ? <span class="muted">unknown</span> : moneyText(costUsd)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const MOST_FILES = 3;

function Files({ files }: { readonly files: readonly string[] }) {
  return (
    <>
      {files.slice(0, MOST_FILES).map((file) => (
        <div key={file}>
          <code>{file}</code>
        </div>
      ))}
      {files.length > MOST_FILES && <div class="muted">and {files.length - MOST_FILES} more</div>}
    </>
  );
}
