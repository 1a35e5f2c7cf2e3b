import { useState } from "preact/hooks";
import type { EvidenceDocument } from "../../../src/views/board/dashboard.ts";
import { ask, type Refusal } from "../ask.ts";
import { asRefusal } from "../use-document.ts";
import { MarkdownView } from "./markdown-view.tsx";

export interface KeptTextProps {
  readonly id: string;
  readonly label: string;
  /** Briefs and messages are Markdown, logs are not. */
  readonly isProse?: boolean;
}

/** A text that is stored outside of the journal. Loaded when the user opens it. */
export function KeptText({ id, label, isProse }: KeptTextProps) {
  const [kept, setKept] = useState<EvidenceDocument | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const loadText = (event: { readonly currentTarget: HTMLDetailsElement }): void => {
    if (!event.currentTarget.open || kept !== null) return;
    ask<EvidenceDocument>(`/evidence/${id}`).then(setKept, (error: unknown) => setProblem(asRefusal(error)));
  };
  return (
    <details class="kept" onToggle={loadText}>
      <summary>{label}</summary>
      {problem !== null && <p class="muted">{problem.message}</p>}
      {kept !== null && (isProse === true ? <MarkdownView text={kept.text} /> : <pre tabIndex={0}>{kept.text}</pre>)}
      {kept !== null && kept.leftOut > 0 && <p class="muted">{kept.leftOut} more characters are in the file.</p>}
    </details>
  );
}
