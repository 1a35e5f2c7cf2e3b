import { markdown, type MarkdownBlock, type Inline } from "../../../src/views/text/markdown.ts";

/** Untrusted Markdown as elements: none of its text can become markup. */
export function MarkdownView({ text }: { readonly text: string }) {
  return (
    <div class="prose">
      {markdown(text).map((block, index) => (
        <BlockView block={block} key={index} />
      ))}
    </div>
  );
}

function BlockView({ block }: { readonly block: MarkdownBlock }) {
  switch (block.type) {
    case "heading":
      // The page uses the first heading levels itself, so a text's headings start below them.
      return block.level <= 2 ? (
        <h3>
          <Parts parts={block.inline} />
        </h3>
      ) : (
        <h4>
          <Parts parts={block.inline} />
        </h4>
      );
    case "paragraph":
      return (
        <p>
          <Parts parts={block.inline} />
        </p>
      );
    case "quote":
      return (
        <blockquote>
          <Parts parts={block.inline} />
        </blockquote>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          {block.info !== "" && <span class="muted">{`${block.info}\n`}</span>}
          {block.text}
        </pre>
      );
    case "rule":
      return <hr />;
    case "list": {
      const items = block.items.map((item, index) => (
        <li class={`depth-${item.depth}`} key={index}>
          {item.ticked !== null && <span>{item.ticked ? "☑ " : "☐ "}</span>}
          <Parts parts={item.inline} />
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

function Parts({ parts }: { readonly parts: readonly Inline[] }) {
  return (
    <>
      {parts.map((part, index) => (
        <Part part={part} key={index} />
      ))}
    </>
  );
}

function Part({ part }: { readonly part: Inline }) {
  switch (part.type) {
    case "text":
      return <>{part.text}</>;
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{part.text}</strong>;
    case "em":
      return <em>{part.text}</em>;
    case "link":
      return (
        <a href={part.href} rel="noreferrer noopener" target="_blank">
          {part.text}
        </a>
      );
  }
}
