import { countText } from "../../../src/stdx/plain-text.ts";
import { useState } from "preact/hooks";
import type { BlameMark, DiffHunk, ShownLine } from "../../../src/views/story/diff-document.ts";
import { FindingItem } from "./finding-item.tsx";
import { Badge } from "./marks.tsx";

export interface HunkProps {
  readonly hunk: DiffHunk;
  readonly path: string;
  readonly comments: Readonly<Record<string, string>>;
  onComment(where: string, text: string): void;
}

/** Some lines that changed, with who wrote them, what was found on them and why they are blamed. */
export function HunkTable({ hunk, path, comments, onComment }: HunkProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Changed lines of ${path}`}>
      <table class="hunk">
        <caption class="unseen">
          {path} {hunk.heading}
        </caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Attempt</th>
            <th scope="col">Line</th>
            <th scope="col">Change</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {hunk.lines.map((line) => (
            <LineRows
              line={line}
              where={`${path}:${line.line}`}
              comment={comments[`${path}:${line.line}`]}
              onComment={onComment}
              key={`${line.kind}${line.line}`}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The line that the address of the page names: `…/diff#src/export.js:3`. */
export const lineInAddress = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    // Typed by hand, or cut off.
    return "";
  }
};

interface LineProps {
  readonly line: ShownLine;
  readonly where: string;
  readonly comment: string | undefined;
  onComment(where: string, text: string): void;
}

const KINDS = { added: ["+", "added"], removed: ["−", "removed"], same: [" ", "same"] } as const;

function LineRows({ line, where, comment, onComment }: LineProps) {
  const [isOpen, setOpen] = useState(false);
  const [sign, word] = KINDS[line.kind];
  const isBlamed = line.blames.length > 0;
  const isTarget = line.kind !== "removed" && lineInAddress() === where;
  return (
    <>
      <tr
        class={`${line.kind}${isBlamed ? " is-blamed" : ""}${isTarget ? " is-target" : ""}`}
        {...(line.kind === "removed" ? {} : { id: where })}
      >
        <td class="author">{line.attempt === null ? "" : line.attempt === 0 ? "engine" : `attempt ${line.attempt}`}</td>
        <td class="number">
          {line.kind === "removed" ? (
            line.line
          ) : (
            <button type="button" title={`Comment on ${where}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              <span class="unseen">Comment on line </span>
              {line.line}
            </button>
          )}
        </td>
        <td class="sign">
          <span aria-hidden="true">{sign}</span>
          <span class="unseen">{word}</span>
        </td>
        <td class="code">{line.text}</td>
      </tr>
      {line.blames.map((mark) => (
        <BlameRow mark={mark} key={mark.at} />
      ))}
      {line.findings.length > 0 && (
        <tr class="note">
          <td colSpan={4}>
            <ul class="findings">
              {line.findings.map((finding) => (
                <FindingItem finding={finding} key={finding.id} />
              ))}
            </ul>
          </td>
        </tr>
      )}
      {isOpen && (
        <tr class="note">
          <td colSpan={4}>
            <label>
              What is to be done otherwise at {where}
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

function BlameRow({ mark }: { readonly mark: BlameMark }) {
  const how =
    mark.basis === "proven"
      ? `proven in ${countText(mark.testRuns, "test run")}`
      : `ranked, ${Math.round(mark.confidence * 100)} % sure`;
  return (
    <tr class="note">
      <td colSpan={4}>
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
