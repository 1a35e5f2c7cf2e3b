/** A sentence of Remand or of an agent: text between backticks is code, everything else is plain text. */
export function Words({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`\n]+)`/);
  if (parts.length === 1) return <>{text}</>;
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
