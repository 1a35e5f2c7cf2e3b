import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createInPlace } from "../../../src/adapters/git/worktree/in-place.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Scope, ScopeException } from "../../../src/core/stories/scope.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { revertOutOfScope } from "../../../src/engine/perform/report-attempt.ts";
import type { EngineWorld } from "../../../src/engine/world.ts";
import { newStory } from "../../../src/fold/new-state.ts";
import type { Workspace } from "../../../src/ports/workspace.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";
import { story } from "../../kit/story-world.ts";

const STORY = story("a");
const SCOPE: Scope = {
  allow: ["src/a.ts"],
  deny: [],
  tests: "add-only",
  exceptions: "with-rationale",
  reason: "the cause is known",
};
const note = (subject: string) => ({ attempt: 2, subject, journalHead: "f".repeat(64) });

let repository: TestRepository;
let workspace: Workspace;
let before: StoryState;
beforeEach(async () => {
  repository = makeRepository({ "src/a.ts": "a\n", "src/b.ts": "b\n", "stories/a.md": "a story\n" });
  workspace = createInPlace({ root: repository.root, state: join(repository.home, "state"), env: repository.env });
  const { tree } = await workspace.prepare(STORY.id);
  const policy = presetPolicy("goal");
  before = { ...newStory(STORY, 0, 0), tree, policy: { ...policy, scope: { ...policy.scope, outside: "revert" } } };
  repository.write("src/a.ts", "fixed\n");
  repository.write("src/b.ts", "meddled\n");
  repository.write("src/new.ts", "new\n");
  repository.write("test/a.test.ts", "a new test\n");
  repository.write("stories/a.md", "a story with a note\n");
});
afterEach(() => repository.clear());

const textOf = (file: string): string => readFileSync(join(repository.root, file), "utf8");

async function putBack(
  options: { scope?: Scope | null; state?: StoryState; exceptions?: ScopeException[]; putBack?: string[] } = {},
) {
  const { scope = SCOPE, state = before, ...ended } = options;
  const kept = await workspace.keep(STORY.id, note("attempt 2"));
  const remembered: (readonly string[])[] = [];
  const world = { workspace } as unknown as EngineWorld;
  const back = await revertOutOfScope(world, state, kept, ended, {
    scope,
    note: note("put back"),
    except: "stories/a.md",
    remember: (paths) => {
      // It must be known before it is done.
      expect(textOf("src/b.ts")).toBe("meddled\n");
      remembered.push(paths);
      return Promise.resolve();
    },
  });
  return { kept, back, remembered };
}

describe("files outside the scope", () => {
  // S3.7
  test("are reverted completely and listed; allowed files, new tests and the story's file stay", async () => {
    const { kept, back, remembered } = await putBack();
    expect(back.putBack).toEqual(["src/b.ts", "src/new.ts"]);
    expect(remembered).toEqual([["src/b.ts", "src/new.ts"]]);
    expect(await workspace.changedPaths(STORY.id, before.tree!, back.tree)).toEqual([
      "src/a.ts",
      "stories/a.md",
      "test/a.test.ts",
    ]);
    expect([textOf("src/a.ts"), textOf("src/b.ts"), existsSync(join(repository.root, "src/new.ts"))]).toEqual([
      "fixed\n",
      "b\n",
      false,
    ]);
    expect(await workspace.currentState(STORY.id)).toEqual({ tree: back.tree, commit: back.commit });
    expect(await workspace.fileAt(STORY.id, kept.commit, "src/b.ts")).toBe("meddled\n");
  });

  test("stay if they have an accepted reason", async () => {
    const exceptions = [{ path: "./src/b.ts", rationale: "a calls it" }];
    expect((await putBack({ exceptions })).back.putBack).toEqual(["src/new.ts"]);
    expect(textOf("src/b.ts")).toBe("meddled\n");
    repository.write("src/new.ts", "new\n");
    const never = await putBack({ exceptions, scope: { ...SCOPE, exceptions: "never" } });
    expect(never.back.putBack).toEqual(["src/b.ts", "src/new.ts"]);
  });

  test("are left to the gate if the config says so, and in new work", async () => {
    const state = { ...before, policy: presetPolicy("goal") };
    for (const options of [{ state }, { scope: null }, { scope: { ...SCOPE, allow: [] } }]) {
      const { kept, back, remembered } = await putBack(options);
      expect(back).toEqual(kept);
      expect(remembered).toEqual([]);
    }
  });

  test("are still listed after a crash between the revert and the report", async () => {
    const first = await putBack();
    const again = await putBack({ putBack: [...first.remembered[0]!] });
    expect(again.back).toMatchObject({ tree: first.back.tree, putBack: ["src/b.ts", "src/new.ts"] });
  });
});
