import type { FindingCard } from "../../../src/views/story/finding-text.ts";
import { Link } from "../router.tsx";
import { Badge } from "./marks.tsx";
import { Words } from "./words.tsx";

const STANDING: Readonly<Record<string, string>> = {
  new: "new",
  persisting: "still there",
  resolved: "fixed",
  regressed: "back again",
  waived: "waived",
  disputed: "disputed",
};

/** A finding: its standing, its location, and the fix. */
export function FindingItem({ finding, story }: { readonly finding: FindingCard; readonly story?: string }) {
  const { standing, severity, gate, source, file, line, message, detail, suggestedFix, isBlocking } = finding;
  const where = file === undefined ? null : `${file}${line === undefined ? "" : `:${line}`}`;
  return (
    <li class={standing === "resolved" ? "is-fixed" : ""}>
      <p>
        <Badge word={standing} label={STANDING[standing] ?? standing} />{" "}
        <span class="muted">
          {severity} · {gate} · {source}
          {isBlocking && " · blocking"}
        </span>
      </p>
      <p>
        {where !== null &&
          (story === undefined ? (
            <code>{where} </code>
          ) : (
            <Link to={`/story/${story}/diff#${encodeURIComponent(where)}`}>
              <code>{where}</code>
            </Link>
          ))}{" "}
        <Words text={message} />
      </p>
      {detail !== undefined && detail !== "" && <pre tabIndex={0}>{detail}</pre>}
      {suggestedFix !== undefined && suggestedFix !== "" && (
        <p class="muted">
          Suggested: <Words text={suggestedFix} />
        </p>
      )}
    </li>
  );
}
