import { useState } from "preact/hooks";

/** Copies a text to the clipboard. */
export function Copy({ text, label }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" class="copy" title={`Copy: ${text}`} onClick={() => void copy()}>
      <code>{label ?? text}</code> <span aria-live="polite">{isCopied ? "copied" : "copy"}</span>
    </button>
  );
}
