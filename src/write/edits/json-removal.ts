import { type JsonWish, type Span, foundIn, plain, without } from "./json-edit.ts";
import { type JsonNode, memberOf, scanJson } from "./json-scan.ts";

/**
 * Takes out what was wished for, wherever it stands now, and the lists and objects that are empty without it. What
 * anybody else wrote, remarks included, stays. `null` where the text cannot be understood, or holds nothing of it.
 */
export function removeFromJson(text: string, wishes: readonly JsonWish[]): string | null {
  let left = text;
  for (const wish of wishes) {
    for (;;) {
      const shorter = removeOne(left, wish);
      if (shorter === null) break;
      left = shorter;
    }
  }
  return left === text ? null : left;
}

/** Does an object hold nothing at all, not even a remark? */
export function isBare(text: string): boolean {
  return /^\uFEFF?\s*\{\s*\}\s*$/.test(text);
}

interface Step {
  readonly node: JsonNode;
  readonly index: number;
}

function removeOne(text: string, wish: JsonWish): string | null {
  const scan = scanJson(text);
  if (!scan.ok || scan.root === null) return null;
  const way: Step[] = [];
  let node = scan.root;
  for (const key of wish.path) {
    const index = node.kind === "object" ? node.members.findIndex((member) => member.key === key) : -1;
    if (index < 0) return null;
    way.push({ node, index });
    node = node.members[index]!.node;
  }
  if (wish.as === "item") {
    const found = node.kind === "array" ? foundIn(node, wish) : null;
    if (found === null) return null;
    const own = found.inner === null ? undefined : memberOf(node.members[found.item]!.node, wish.within!)!.node;
    // Somebody may have put a thing of his own beside ours; else the whole item was ours.
    if (own !== undefined && own.members.length > 1) return cut(text, [{ node: own, index: found.inner! }]);
    way.push({ node, index: found.item });
  } else if (!wish.isOurs(plain(node))) return null;
  return cut(text, way);
}

/** Takes out the innermost of these, and those around it that held nothing else; the outermost object stays. */
function cut(text: string, way: readonly Step[]): string {
  let depth = way.length - 1;
  while (depth > 0 && way[depth]!.node.members.length === 1 && isOnlyThere(text, way[depth]!)) depth--;
  const { node, index } = way[depth]!;
  const member = node.members[index]!;
  const [previous, next] = [node.members[index - 1], node.members[index + 1]];
  const before = gap(text, previous?.node.end ?? node.start + 1, member.start);
  const after = gap(text, member.node.end, next?.start ?? node.end - 1);
  const spans = [{ at: member.start, length: member.node.end - member.start }];
  // Its own comma goes with it; behind the last one that is the comma before it.
  const comma = after.comma ?? before.comma;
  if (comma !== null) spans.push({ at: comma, length: 1 });
  // Blanks go too, unless a remark needs them to end.
  if (before.isBlank) spans.push(...blanksOf(text, before, comma));
  if (after.isBlank && previous === undefined && next === undefined) spans.push(...blanksOf(text, after, comma));
  return without(
    text,
    spans.toSorted((a, b) => a.at - b.at),
  );
}

interface Gap {
  readonly from: number;
  readonly to: number;
  readonly comma: number | null;
  readonly isBlank: boolean;
}

/** What stands between two members: blanks, remarks, and a comma. */
function gap(text: string, from: number, to: number): Gap {
  const remark = /\/\/[^\r\n]*|\/\*[^]*?\*\//g;
  const inner = text.slice(from, to);
  const bare = inner.replaceAll(remark, (found) => "#".repeat(found.length));
  const comma = bare.indexOf(",");
  return { from, to, comma: comma < 0 ? null : from + comma, isBlank: bare.replace(",", "").trim() === "" };
}

/** The blanks of a gap, each a span, without the comma: that is counted already, or stays. */
function blanksOf(text: string, { from, to, comma }: Gap, taken: number | null): Span[] {
  const start = comma === null || comma === taken ? from : comma + 1;
  const spans: Span[] = [];
  for (let at = start; at < to; at++) if (text[at] !== ",") spans.push({ at, length: 1 });
  return spans;
}

function isOnlyThere(text: string, { node, index }: Step): boolean {
  const member = node.members[index]!;
  const around = text.slice(node.start + 1, member.start) + text.slice(member.node.end, node.end - 1);
  return around.replaceAll(",", "").trim() === "";
}
