import { plainText } from "../../stdx/plain-text.ts";

/**
 * The items of the list under a heading such as `Failures:`, in what an agent wrote; empty where there is no such list
 * or it says that there is nothing. The last list of that name counts.
 */
export function listedItems(text: string, heading: RegExp): string[] {
  const lines = plainText(text.slice(-LONGEST)).split("\n");
  const at = lines.findLastIndex((line) => heading.test(line.trim()));
  if (at === -1) return [];
  const items: string[] = [];
  for (const line of lines.slice(at + 1)) {
    const item = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(\S.*)$/.exec(line)?.[1]?.trim();
    if (item !== undefined) items.push(item.slice(0, LONGEST_ITEM));
    else if (line.trim() !== "") break;
    if (items.length === MOST_ITEMS) break;
  }
  return items.filter((item) => !/^(?:none|nothing|-)\.?$/i.test(item));
}

const LONGEST = 64 * 1024;
const LONGEST_ITEM = 300;
const MOST_ITEMS = 20;
