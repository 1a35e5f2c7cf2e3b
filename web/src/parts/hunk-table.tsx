import { countText } from "../../../src/stdx/plain-text.ts";
import { useMemo, useState } from "preact/hooks";
import type { BlameMark, DiffHunk, ShownLine } from "../../../src/views/story/diff-document.ts";
import { type CodePart, highlightDiff, mergeParts } from "../highlight.ts";
import { changedWords, pairLines } from "../word-diff.ts";
import { FindingItem } from "./finding-item.tsx";
import { Badge } from "./marks.tsx";

export interface HunkProps {
  readonly hunk: DiffHunk;
  readonly path: string;
  readonly comments: Readonly<Record<string, string>>;
  onComment(where: string, text: string): void;
  /** Whether old and new lines are shown side by side. */
  readonly isSplit: boolean;
}

/** Changed lines, with their author, findings and blame. */
export function HunkTable({ hunk, path, comments, onComment, isSplit }: HunkProps) {
  const words = useMemo(() => codeParts(path, hunk.lines), [hunk]);
  const pairs = isSplit ? pairLines(hunk.lines) : hunk.lines.map((line) => ({ old: null, new: line }));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Changed lines of ${path}`}>
      <table class={`hunk${isSplit ? " is-split" : ""}`}>
        <caption class="unseen">
          {path} {hunk.heading}
        </caption>
        <thead class="unseen">
          <tr>
            {isSplit && <th scope="col">Old line</th>}
            {isSplit && <th scope="col">Old text</th>}
            <th scope="col">Attempt</th>
            <th scope="col">Line</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(({ old, new: fresh }, index) => (
            <LineRows
              old={isSplit ? old : undefined}
              line={fresh}
              words={words}
              where={`${path}:${fresh?.line}`}
              comment={comments[`${path}:${fresh?.line}`]}
              onComment={onComment}
              key={index}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Every line with syntax colors, split where its words differ from the line that it replaces. */
function codeParts(path: string, lines: readonly ShownLine[]): ReadonlyMap<ShownLine, readonly CodePart[]> {
  const changed = changedWords(lines);
  const tokens = highlightDiff(path, lines);
  return new Map(lines.map((line) => [line, mergeParts(tokens.get(line) ?? [], changed.get(line))]));
}

/** The line in the address of the page: `…/diff#src/export.js:3`. */
export const lineInAddress = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    // The address was typed by hand, or cut off.
    return "";
  }
};

interface LineProps {
  /** The old side; `undefined` if both sides share one column. */
  readonly old: ShownLine | null | undefined;
  readonly line: ShownLine | null;
  readonly words: ReadonlyMap<ShownLine, readonly CodePart[]>;
  readonly where: string;
  readonly comment: string | undefined;
  onComment(where: string, text: string): void;
}

const KINDS = { added: ["+", "added"], removed: ["−", "removed"], same: [" ", "same"] } as const;

/** The text of a line, with changed words highlighted. */
function Code({ line, words }: Pick<LineProps, "words"> & { readonly line: ShownLine }) {
  return <CodeParts parts={words.get(line) ?? []} />;
}

export function CodeParts({ parts }: { readonly parts: readonly CodePart[] }) {
  return (
    <>
      {parts.map(({ text, kind, isChanged }, index) => {
        if (!isChanged && kind === "plain") return text;
        const name = kind === "plain" ? undefined : `is-${kind}`;
        return isChanged ? (
          <mark class={name} key={index}>
            {text}
          </mark>
        ) : (
          <span class={name} key={index}>
            {text}
          </span>
        );
      })}
    </>
  );
}

function OldSide({ old, words }: Pick<LineProps, "words"> & { readonly old: ShownLine | null }) {
  return (
    <>
      <td class="number">{old?.line ?? ""}</td>
      <td class={`code old ${old?.kind === "removed" ? "removed" : ""}`}>
        {old !== null && <Code line={old} words={words} />}
      </td>
    </>
  );
}

function LineRows({ old, line, words, where, comment, onComment }: LineProps) {
  const [isOpen, setOpen] = useState(false);
  const isNew = line !== null && line.kind !== "removed";
  const isTarget = isNew && lineInAddress() === where;
  const isBlamed = (line?.blames.length ?? 0) > 0;
  const kind = old === undefined || line?.kind === "added" ? (line?.kind ?? "") : "";
  const columns = old === undefined ? 4 : 6;
  return (
    <>
      <tr
        class={`${kind}${isBlamed ? " is-blamed" : ""}${isTarget ? " is-target" : ""}`}
        {...(isNew ? { id: where } : {})}
      >
        {old !== undefined && <OldSide old={old} words={words} />}
        <NewSide line={line} words={words} where={where} isOpen={isOpen} onOpen={() => setOpen(!isOpen)} />
      </tr>
      {line?.blames.map((mark) => (
        <BlameRow mark={mark} columns={columns} key={mark.at} />
      ))}
      {line !== null && line.findings.length > 0 && (
        <tr class="note">
          <td colSpan={columns}>
            <ul class="findings" aria-label={`Findings at ${where}`}>
              {line.findings.map((finding) => (
                <FindingItem finding={finding} key={finding.id} />
              ))}
            </ul>
            {!isOpen && (
              <button type="button" onClick={() => setOpen(true)}>
                Reply
              </button>
            )}
          </td>
        </tr>
      )}
      {isOpen && (
        <tr class="note">
          <td colSpan={columns}>
            <label>
              Comment on {where}, for the next attempt
              <textarea
                rows={2}
                value={comment ?? ""}
                onInput={(event) => onComment(where, event.currentTarget.value)}
              />
            </label>
          </td>
        </tr>
      )}
    </>
  );
}

interface NewSideProps extends Pick<LineProps, "line" | "words" | "where"> {
  readonly isOpen: boolean;
  onOpen(): void;
}

function NewSide({ line, words, where, isOpen, onOpen }: NewSideProps) {
  const [sign, word] = KINDS[line?.kind ?? "same"];
  const author = line?.attempt == null ? "" : line.attempt === 0 ? "engine" : `attempt ${line.attempt}`;
  return (
    <>
      <td class="author">{author}</td>
      <td class="number">
        {line === null || line.kind === "removed" ? (
          (line?.line ?? "")
        ) : (
          <button type="button" title={`Comment on ${where}`} aria-expanded={isOpen} onClick={onOpen}>
            <span class="unseen">Comment on line </span>
            {line.line}
          </button>
        )}
      </td>
      <td class="sign">
        <span aria-hidden="true">{sign}</span>
        <span class="unseen">{word}</span>
      </td>
      <td class="code">{line !== null && <Code line={line} words={words} />}</td>
    </>
  );
}

function BlameRow({ mark, columns }: { readonly mark: BlameMark; readonly columns: number }) {
  const how =
    mark.basis === "proven"
      ? `proven in ${countText(mark.testRuns, "test run")}`
      : `ranked, ${Math.round(mark.confidence * 100)} % sure`;
  return (
    <tr class="note">
      <td colSpan={columns}>
        <div class="blame">
          <p>
            <Badge word="blamed" label={`Blamed by ${mark.gate}: ${how}`} />
          </p>
          <p>{mark.explanation}</p>
          <details>
            <summary>Why this blame</summary>
            <ul>
              <li>{mark.change}</li>
              {mark.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </details>
        </div>
      </td>
    </tr>
  );
}
