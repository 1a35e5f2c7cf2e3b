import { type Node, findNodeAtLocation, getNodeValue } from "jsonc-parser";
import { without } from "./added-text.ts";
import { type JsonDocument, endOf, readJson } from "./json-document.ts";
import { type JsonAddition, findOurs } from "./json-edit.ts";

/**
 * Removes what was added, wherever it is now, and the lists and objects that are empty without it. Everything that
 * other people wrote stays, comments included. `null` where the text cannot be read, or has nothing of it.
 */
export function removeFromJson(text: string, wishes: readonly JsonAddition[]): string | null {
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

/** Is this an object without members and without comments? */
export function isBare(text: string): boolean {
  return /^\uFEFF?\s*\{\s*\}\s*$/.test(text);
}

function removeOne(text: string, wish: JsonAddition): string | null {
  const read = readJson(text);
  if (!read.ok || read.document.root === null) return null;
  const found = findNodeAtLocation(read.document.root, [...wish.path]);
  if (found === undefined) return null;
  if (wish.as === "member") return wish.isOurs(getNodeValue(found)) ? cut(text, read.document, found) : null;
  const ours = found.type === "array" ? findOurs(found, wish) : null;
  if (ours === null) return null;
  // A person may have put values beside ours; if not, the whole item was ours.
  const isShared = ours.own.parent!.children!.length > 1;
  return cut(text, read.document, isShared ? ours.own : ours.item);
}

/**
 * Cuts out a value with its key and its comma, and the lists and objects around it that hold nothing else; the
 * outermost object stays. `modify` is of no use here: it cuts comments too, and wrongly at the end of a list.
 */
function cut(text: string, document: JsonDocument, value: Node): string {
  const hasComment = (from: number, to: number): boolean => document.comments.some(({ at }) => at >= from && at < to);
  const commaIn = (from: number, to: number): number | undefined =>
    document.commas.find((comma) => comma >= from && comma < to);
  let node = memberOf(value);
  let holder = node.parent!;
  const isAlone = (): boolean =>
    holder.children!.length === 1 && !hasComment(holder.offset, node.offset) && !hasComment(endOf(node), endOf(holder));
  while (holder.parent !== undefined && isAlone()) {
    node = memberOf(holder);
    holder = node.parent!;
  }
  const siblings = holder.children!;
  const index = siblings.indexOf(node);
  const before = index === 0 ? holder.offset + 1 : endOf(siblings[index - 1]!);
  const after = index === siblings.length - 1 ? endOf(holder) - 1 : siblings[index + 1]!.offset;
  const [commaBefore, commaAfter] = [commaIn(before, node.offset), commaIn(endOf(node), after)];
  const comma = commaAfter ?? commaBefore;
  // The blanks before it go too, unless a comment is among them.
  const blanks = commaAfter === undefined || commaBefore === undefined ? before : commaBefore + 1;
  const from = hasComment(before, node.offset) ? node.offset : blanks;
  const to = siblings.length === 1 && !hasComment(endOf(node), after) ? after : endOf(node);
  const spans = [{ at: from, length: to - from }];
  if (comma !== undefined && (comma < from || comma >= to)) spans.push({ at: comma, length: 1 });
  return without(
    text,
    spans.toSorted((a, b) => a.at - b.at),
  );
}

/** A value with its key, where it has one. */
const memberOf = (value: Node): Node => (value.parent?.type === "property" ? value.parent : value);
