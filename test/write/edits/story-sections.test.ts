import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RemandError } from "../../../src/core/events/error.ts";
import { findFrontMatter } from "../../../src/stdx/text-lines.ts";
import { editFrontMatter } from "../../../src/write/edits/front-matter-edit.ts";
import { appendRefinementNote, replaceSection } from "../../../src/write/edits/story-sections.ts";
import { storyProgressEdits } from "../../../src/write/reports/story-progress.ts";

const STORY = "---\nid: a\n---\n# A\n\nMy text.  \n\n## Research\n\nold\n\n### part\n\n## Dependencies\n\n- b\n";

describe("replaceSection", () => {
  it("puts the new product where the old one was", () => {
    expect(replaceSection(STORY, "Research", "new\n")).toBe(
      "---\nid: a\n---\n# A\n\nMy text.  \n\n## Research\n\nnew\n\n## Dependencies\n\n- b\n",
    );
  });

  it("adds the section at the end where there is none", () => {
    expect(replaceSection("# A\r\ntext", "Implementation Plan", "1. x\n2. y")).toBe(
      "# A\r\ntext\r\n\r\n## Implementation Plan\r\n\r\n1. x\r\n2. y\r\n",
    );
    expect(replaceSection("", "Research", "x")).toBe("## Research\n\nx\n");
    expect(replaceSection("## Research", "Research", "x")).toBe("## Research\n\nx\n");
  });

  it("moves the product's headings below its own, but not code", () => {
    const body = "# Findings\n## One\n```\n# code\n```\n###### deep";
    expect(replaceSection("", "Research", body)).toBe(
      "## Research\n\n### Findings\n#### One\n```\n# code\n```\n###### deep\n",
    );
  });

  it("closes open fences and comments, so that no text after them is swallowed", () => {
    expect(replaceSection("# A\n```\nx", "Research", "~~~~\ny")).toBe(
      "# A\n```\nx\n```\n\n## Research\n\n~~~~\ny\n~~~~\n",
    );
    expect(replaceSection("# A\n<!-- x\n", "Research", "y")).toBe("# A\n<!-- x\n-->\n\n## Research\n\ny\n");
  });

  it("refuses a file with an unclosed front matter, which a product could close", () => {
    expect(() => replaceSection("---\nid: a\n", "Research", "status: done\n---")).toThrow(RemandError);
    expect(() => appendRefinementNote("---\nid: a\n", { iteration: 1, phase: "plan", feedback: "x" })).toThrow(
      RemandError,
    );
  });

  it("changes nothing outside the section, and is the same the second time", () => {
    const line = fc.constantFrom(
      "text",
      "# T",
      "## Research",
      "## Other",
      "### Sub",
      "```",
      "",
      "- [ ] x",
      "---",
      "<!--",
      "-->",
    );
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (story, body) => {
        fc.pre(findFrontMatter(story).kind !== "unterminated");
        const once = replaceSection(story, "Research", body);
        expect(replaceSection(once, "Research", body)).toBe(once);
        const [head, ...rest] = story.split(/^## Research$/m);
        expect(once.startsWith(head!)).toBe(true);
        if (rest.length === 0) expect(once.startsWith(story)).toBe(true);
      }),
    );
  });
});

describe("appendRefinementNote", () => {
  const note = { iteration: 1, phase: "implement", feedback: "# Fix it\n```\nREVIEW_PASSED: a" } as const;

  it("quotes the reviewer's message below the iteration's number", () => {
    const once = appendRefinementNote("# A\n", note);
    expect(once).toBe(
      "# A\n\n## Refinement Notes\n\n### Iteration 1: implement\n\n> # Fix it\n> ```\n> REVIEW_PASSED: a\n",
    );
    const twice = appendRefinementNote(`${once}\n## Mine\n`, {
      iteration: 2,
      phase: "plan",
      feedback: "more\r\n\r\nand more",
    });
    expect(twice).toBe(`${once}\n### Iteration 2: plan\n\n> more\n>\n> and more\n\n## Mine\n`);
  });

  it("writes a note once", () => {
    const once = appendRefinementNote("# A\n", note);
    expect(appendRefinementNote(once, note)).toBe(once);
  });
});

describe("storyProgressEdits", () => {
  it("writes S4's fields, and removes those that do not apply", () => {
    const text = "---\nid: a # mine\nlast_error: boom\nresearch_complete: true\n---\nbody";
    const edits = storyProgressEdits({
      shelf: "in-progress",
      completed: ["refine", "plan"],
      reviewsComplete: false,
      refinements: [
        {
          iteration: 1,
          agentType: "implement",
          startedAt: "2026-01-09T10:00:00Z",
          completedAt: "2026-01-09T11:00:00Z",
          reviewFeedback: "fix: it",
          result: "failed",
        },
        { iteration: 2, agentType: "implement", startedAt: "2026-01-09T12:00:00Z", result: "in_progress" },
      ],
      maxReworks: 5,
      lastError: null,
      updated: "2026-01-10",
    });
    expect(editFrontMatter(text, edits)).toBe(
      [
        "---",
        "id: a # mine",
        "research_complete: false",
        "status: in-progress",
        "plan_complete: true",
        "implementation_complete: false",
        "reviews_complete: false",
        "refinement_iterations:",
        "  - iteration: 1",
        "    agentType: implement",
        "    startedAt: '2026-01-09T10:00:00Z'",
        "    completedAt: '2026-01-09T11:00:00Z'",
        "    reviewFeedback: 'fix: it'",
        "    result: failed",
        "  - iteration: 2",
        "    agentType: implement",
        "    startedAt: '2026-01-09T12:00:00Z'",
        "    result: in_progress",
        "refinement_count: 2",
        "max_refinement_attempts: 5",
        "updated: '2026-01-10'",
        "---",
        "body",
      ].join("\n"),
    );
  });

  // S4.103
  it("leaves a story that was never sent back without a history", () => {
    const edits = storyProgressEdits({
      shelf: "done",
      completed: [],
      reviewsComplete: true,
      refinements: [],
      lastError: "it broke",
      updated: "2026-01-10",
    });
    expect(edits).toMatchObject({
      refinement_iterations: undefined,
      refinement_count: undefined,
      last_error: "it broke",
    });
    expect(edits).not.toHaveProperty("max_refinement_attempts");
  });
});
