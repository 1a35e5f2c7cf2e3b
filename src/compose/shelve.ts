import { keepingLicense } from "../domain/story-base.ts";
import type { Story } from "../domain/story.ts";
import type { Ledger } from "../engine/ledger.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { insist } from "./tell.ts";

/** Puts stories into the journal, or what is new about them; says whether anything was. Together, because each would wait for the disk. */
export async function shelveAll(ledger: Ledger, stories: readonly Story[]): Promise<boolean> {
  return (await Promise.all(stories.map((story) => shelve(ledger, story)))).includes(true);
}

/** Puts a story into the journal, or notes that its file says something else than before; says whether it did. */
async function shelve(ledger: Ledger, story: Story): Promise<boolean> {
  const known = lookup(ledger.state().stories, story.id, byText);
  if (known === undefined) {
    await insist(ledger, story.id, [{ type: "story.added", story }]);
    return true;
  }
  const now = keepingLicense(known, story);
  const what = (Object.keys({ ...known.story, ...now }) as (keyof Story)[]).filter(
    (key) => canonicalJson(known.story[key] ?? null) !== canonicalJson(now[key] ?? null),
  );
  if (what.length === 0 || known.ending !== null) return false;
  await insist(ledger, story.id, [{ type: "story.changed", story: now, what }]);
  return true;
}
