import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { StoryEditedDocument, StoryFileDocument } from "../../../src/views/board/dashboard.ts";
import { ask, type Refusal, refusalText, say } from "../ask.ts";
import { hello, isReadOnly } from "../hello.ts";
import { Problem } from "../parts/problem.tsx";
import { addReceipt } from "../parts/receipts.tsx";
import { go } from "../router.tsx";
import { asRefusal } from "../use-document.ts";
import { useTitle } from "../use-title.ts";

const TEMPLATE = `---
title:
depends_on: []
---

What should be different, and why.

## Acceptance criteria

- [ ] what can be checked
`;

/** The page for a new story, whose id is the name of its file. */
export function NewStory() {
  useTitle("New story");
  const [id, setId] = useState("");
  return (
    <>
      <div class="head">
        <h1>New story</h1>
        <p class="muted">It is written to the folder of your stories, as a file that you can edit and commit.</p>
      </div>
      <StoryForm id={id} before={null} text={TEMPLATE}>
        <label>
          Id, in the names of its file and branch
          <input
            required
            autofocus
            placeholder="export-invoices"
            value={id}
            onInput={(event) => setId(event.currentTarget.value.trim())}
          />
        </label>
      </StoryForm>
    </>
  );
}

export function EditStory({ id }: { readonly id: string }) {
  useTitle(`Edit ${id}`);
  const [loaded, setLoaded] = useState<StoryFileDocument | Refusal | null>(null);
  // Loaded once, so that later events never replace what a person types.
  useEffect(() => {
    ask<StoryFileDocument>(`/stories/${id}/source`).then(setLoaded, (error: unknown) => setLoaded(asRefusal(error)));
  }, [id]);
  if (loaded === null) return <p class="muted">Loading…</p>;
  if (loaded instanceof Error) return <Problem problem={loaded} />;
  return (
    <>
      <div class="head">
        <h1>Edit {id}</h1>
        <p class="muted">
          <code>{loaded.file}</code>. Work that has begun goes on with the text that it began with, unless the change
          matters to it.
        </p>
      </div>
      <StoryForm id={id} before={loaded.text} text={loaded.text} />
    </>
  );
}

interface FormProps {
  readonly id: string;
  readonly before: string | null;
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** The pause in typing before the text is validated. */
const REST_MS = 400;

/** Validates the text while the person types, with the parser that reads story files. */
function StoryForm({ id, before, text: first, children }: FormProps) {
  const [text, setText] = useState(first);
  const [found, setFound] = useState<StoryEditedDocument["problems"]>([]);
  const [problem, setProblem] = useState("");
  const send = (isCheck: boolean): Promise<StoryEditedDocument> =>
    say<StoryEditedDocument>("/story-files", { id, text, before, isCheck });
  const check = async (): Promise<void> => {
    try {
      setFound((await send(true)).problems);
      setProblem("");
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  useEffect(() => {
    if (id === "") return undefined;
    const timer = setTimeout(() => void check(), REST_MS);
    return () => clearTimeout(timer);
  }, [id, text]);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const { file, problems, isWritten } = await send(false);
      setFound(problems);
      setProblem(isWritten ? "" : "Nothing was written: fix the errors first.");
      if (!isWritten) return;
      addReceipt(`Wrote ${file}.${nextText()}`);
      go(before === null ? "/stories" : `/story/${id}`);
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  return (
    <form class="edit-story" onSubmit={(event) => void save(event)}>
      {children}
      <label>
        Story
        <textarea rows={18} spellcheck value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Problems found={found} />
      <p role="status">{problem}</p>
      <div class="tools">
        <button type="submit" class="primary" disabled={isReadOnly()}>
          {isReadOnly() ? "This dashboard is read-only" : "Save story"}
        </button>
        <button type="button" onClick={() => history.back()}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function Problems({ found }: { readonly found: StoryEditedDocument["problems"] }) {
  return (
    <ul class="plain-list" aria-label="Problems" aria-live="polite">
      {found.map(({ line, severity, message, hint }) => (
        <li class={severity === "error" ? "is-error" : ""} key={`${line} ${message}`}>
          <strong>
            {severity === "error" ? "✖ error" : "⚠ warning"}, line {line}:
          </strong>{" "}
          {message}. <span class="muted">{hint}</span>
        </li>
      ))}
    </ul>
  );
}

const nextText = (): string =>
  hello.value?.engine.state === "running" ? " The engine takes it up by itself." : " Start an engine to work on it.";
