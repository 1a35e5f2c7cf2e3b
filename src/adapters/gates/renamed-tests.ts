import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { readTestText, type TestReading } from "./test-text.ts";

/** Titles of tests whose body is, letter by letter, in the work's tests under another title or in another file. */
export async function renamedTests(
  { workspace, testPaths }: { readonly workspace: Pick<Workspace, "fileAt">; readonly testPaths: readonly string[] },
  { story, base, tree }: GateRequest,
  changed: readonly string[],
): Promise<ReadonlySet<string>> {
  const before: TestReading[] = [];
  const now: TestReading[] = [];
  const read = async (at: string, path: string, into: TestReading[]): Promise<void> => {
    const text = await workspace.fileAt(story.id, at, path);
    if (text !== null) into.push(...readTestText(path, text).tests);
  };
  for (const path of changed.filter((each) => matchesAnyGlob(each, testPaths))) {
    await read(base, path, before);
    await read(tree, path, now);
  }
  const shapes = new Set(now.filter(({ isSkipped }) => !isSkipped).map(({ shape }) => shape));
  return new Set(
    before.flatMap(({ title, shape, assertions }) =>
      title !== null && assertions > 0 && shapes.has(shape) ? [title] : [],
    ),
  );
}
