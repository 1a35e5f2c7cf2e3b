import { countText } from "../../../src/stdx/plain-text.ts";
import { useEffect, useState } from "preact/hooks";
import type { DiffDocument, DiffFile } from "../../../src/views/story/diff-document.ts";
import { refusalText } from "../ask.ts";
import { isReadOnly } from "../hello.ts";
import { FindingItem } from "../parts/finding-item.tsx";
import { HunkTable, lineInAddress } from "../parts/hunk-table.tsx";
import { FileTree } from "../parts/file-tree.tsx";
import { Loading } from "../parts/loading.tsx";
import { sendAnswer } from "../parts/receipts.tsx";
import { Link, setSearchParam, searchParam } from "../router.tsx";
import { asRefusal, useDocument } from "../use-document.ts";
import { useViewed } from "../viewed.ts";
import { useTitle } from "../use-title.ts";

/** The changes of a story, with the author, findings and blame of each line. */
export function Diff({ id }: { readonly id: string }) {
  useTitle(`Diff of ${id}`);
  const [attempt, since] = [searchParam("attempt"), searchParam("since")];
  const asked = new URLSearchParams({ ...(attempt === "" ? {} : { attempt }), ...(since === "" ? {} : { since }) });
  const loaded = useDocument<DiffDocument>(
    `/stories/${id}/diff?${asked.toString()}`,
    (line) => line.story === id && RELEVANT.has(line.type),
  );
  const isLoaded = loaded.data !== null;
  useEffect(() => {
    if (isLoaded) document.getElementById(lineInAddress())?.scrollIntoView({ block: "center" });
  }, [isLoaded]);
  const viewed = useViewed(id);
  const [comments, setComments] = useState<Readonly<Record<string, string>>>({});
  const comment = (where: string, text: string): void => setComments((known) => ({ ...known, [where]: text }));
  return (
    <>
      <div class="head">
        <h1>Diff and blame</h1>
        <p class="summary">
          <Link to={`/story/${id}`}>{id}</Link>
        </p>
      </div>
      <Loading loaded={loaded}>
        {(diff) => (
          <>
            <Range diff={diff} />
            <SendBack id={id} comments={comments} onSent={() => setComments({})} />
            {diff.files.length === 0 && <p class="empty">Nothing was changed between these two.</p>}
            <div class="diff">
              <FileTree files={diff.files} viewed={viewed} />
              <div class="diff-files">
                {diff.files.map((file) => (
                  <FileDiff
                    file={file}
                    comments={comments}
                    onComment={comment}
                    isViewed={viewed.has(file)}
                    onViewed={(isOn) => viewed.set(file, isOn)}
                    key={file.path}
                  />
                ))}
              </div>
            </div>
            {diff.leftOut > 0 && (
              <p class="muted">
                {countText(diff.leftOut, "more line")} of a very large diff: <code>remand diff {id}</code> shows all of
                it.
              </p>
            )}
            <Elsewhere diff={diff} />
          </>
        )}
      </Loading>
    </>
  );
}

const RELEVANT = new Set([
  "attempt.finished",
  "gate.judged",
  "blame.found",
  "tree.restored",
  "branch.updated",
  "work.adopted",
]);

/** Selects the attempt, by name or with a slider, and what it is compared with. */
function Range({ diff: { attempts } }: { readonly diff: DiffDocument }) {
  const chosen = searchParam("attempt");
  const at = chosen === "" ? attempts.length : Math.max(0, attempts.indexOf(Number(chosen)));
  const options = attempts.map((attempt) => (
    <option value={String(attempt)} key={attempt}>
      attempt {attempt}
    </option>
  ));
  return (
    <div class="tools">
      <label>
        Up to{" "}
        <select value={chosen} onChange={(event) => setSearchParam("attempt", event.currentTarget.value)}>
          <option value="">now</option>
          {options}
        </select>
      </label>
      {attempts.length > 1 && (
        <input
          type="range"
          aria-label="Attempt"
          aria-valuetext={chosen === "" ? "now" : `attempt ${chosen}`}
          min={0}
          max={attempts.length}
          value={at}
          onChange={({ currentTarget: { value } }) => setSearchParam("attempt", String(attempts[Number(value)] ?? ""))}
        />
      )}
      <label>
        Compared with{" "}
        <select value={searchParam("since")} onChange={(event) => setSearchParam("since", event.currentTarget.value)}>
          <option value="">{chosen === "" ? "the base" : "what was there before it"}</option>
          {options}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={searchParam("view") === "split"}
          onChange={(event) => setSearchParam("view", event.currentTarget.checked ? "split" : "")}
        />
        Side by side
      </label>
    </div>
  );
}

interface FileProps {
  readonly file: DiffFile;
  readonly comments: Readonly<Record<string, string>>;
  onComment(where: string, text: string): void;
  readonly isViewed: boolean;
  onViewed(isOn: boolean): void;
}

function FileDiff({ file, comments, onComment, isViewed, onViewed }: FileProps) {
  const { path, oldPath, change, isBinary, added, removed, hunks } = file;
  return (
    <section class="file" aria-label={path} id={`file-${path}`}>
      <h2>
        <code>{path}</code>{" "}
        <span class="muted">
          {change}
          {oldPath !== path && ` from ${oldPath}`} · <span class="plus">+{added}</span>{" "}
          <span class="minus">−{removed}</span>
        </span>
        <label class="check">
          <input type="checkbox" checked={isViewed} onChange={(event) => onViewed(event.currentTarget.checked)} />
          <span>
            Viewed<span class="unseen"> {path}</span>
          </span>
        </label>
      </h2>
      {isBinary && <p class="muted">Not a text.</p>}
      {!isViewed &&
        hunks.map((hunk, index) => (
          <HunkTable
            hunk={hunk}
            path={path}
            comments={comments}
            onComment={onComment}
            isSplit={searchParam("view") === "split"}
            key={index}
          />
        ))}
    </section>
  );
}

/** Comments on lines are collected and sent back as one brief. */
function SendBack({ id, comments, onSent }: Pick<FileProps, "comments"> & { readonly id: string; onSent(): void }) {
  const [problem, setProblem] = useState("");
  const written = Object.entries(comments).filter(([, text]) => text.trim() !== "");
  const send = async (): Promise<void> => {
    const message = written.map(([where, text]) => `${where}: ${text.trim()}`).join("\n");
    try {
      await sendAnswer([id], { verb: "send-back", message });
      setProblem("");
      onSent();
    } catch (error) {
      setProblem(refusalText(asRefusal(error)));
    }
  };
  return (
    <div class="send-back">
      {written.length > 0 && (
        <button type="button" class="primary" disabled={isReadOnly()} onClick={() => void send()}>
          Send back with {countText(written.length, "comment")}
        </button>
      )}
      <span role="status">{problem}</span>
    </div>
  );
}

function Elsewhere({ diff: { elsewhere } }: { readonly diff: DiffDocument }) {
  if (elsewhere.length === 0) return null;
  return (
    <section>
      <h2>Findings that are on no line shown here</h2>
      <ul class="findings">
        {elsewhere.map((finding) => (
          <FindingItem finding={finding} key={`${finding.gate} ${finding.id}`} />
        ))}
      </ul>
    </section>
  );
}
