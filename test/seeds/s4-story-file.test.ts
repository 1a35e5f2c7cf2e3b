import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "../../src/config/resolve.ts";
import { readStoryFile } from "../../src/parse/stories/story-file.ts";
import { readYaml } from "../../src/parse/data/yaml-text.ts";
import { findFrontMatter } from "../../src/stdx/text-lines.ts";
import { editFrontMatter } from "../../src/write/edits/front-matter-edit.ts";
import { storyProgressEdits } from "../../src/write/reports/story-progress.ts";
import { appendRefinementNote, replaceSection, SECTION_OF_PHASE } from "../../src/write/edits/story-sections.ts";

/** A story as S4's tool leaves it: folded title, quoted dates, phases' products with headings of their own. */
const STORY = `---
id: story-k3v9-export
title: >-
  People can export their invoices as one
  spreadsheet, filtered the way they see
  them
priority: 2
status: in-progress
type: feature
created: '2026-01-09'
labels:
  - s
  - billing
research_complete: true
plan_complete: true
implementation_complete: true
reviews_complete: false
updated: '2026-01-09' # by hand, sorry
branch: sdlc/export-invoices
max_refinement_attempts: 3
---
# Export invoices

**As an** accountant
**I want** one file

## Acceptance Criteria

- [ ] The file has one row for each invoice that is shown
- [ ] A row holds everything that is on screen, including:
  - [ ] the currency
  - [x] the due date
- [x] An empty list gives a file with a header alone

## Constraints & Edge Cases

- not a criterion

---

**Effort:** Large

## Research

# Research: exports

## 1. What is there

\`\`\`markdown
## Acceptance Criteria
- [ ] not this one
\`\`\`

### 11.1 Verify Core Acceptance Criteria
- [ ] nor this one
`;

const fieldsOf = (text: string): Record<string, unknown> => {
  const parts = findFrontMatter(text);
  return parts.kind === "closed" ? (parse(text.slice(parts.yamlStart, parts.yamlEnd)) as Record<string, unknown>) : {};
};

describe("S4: the story file", () => {
  // S4.29
  it("is read whole, without a single complaint", () => {
    const { story, problems } = readStoryFile("stories/export.md", STORY);
    expect(problems).toEqual([]);
    expect(story).toMatchObject({
      id: "story-k3v9-export",
      title: "People can export their invoices as one spreadsheet, filtered the way they see them",
      priority: 2,
      shelf: "in-progress",
      kind: "feature",
      labels: ["s", "billing"],
      completed: ["refine", "research", "plan", "implement"],
      maxReworks: 3,
      criteria: [
        { id: "AC1", text: "The file has one row for each invoice that is shown" },
        { id: "AC2", text: "A row holds everything that is on screen, including:" },
        { id: "AC2.1", text: "the currency" },
        { id: "AC2.2", text: "the due date" },
        { id: "AC3", text: "An empty list gives a file with a header alone" },
      ],
    });
    expect(story?.body.startsWith("# Export invoices\n")).toBe(true);
  });

  // S4.12, S4.31, S4.34, S4.35, S4.80, S4.82
  it("records a rework in its fields, and leaves the person's own bytes alone", () => {
    const edits = storyProgressEdits({
      shelf: "in-progress",
      completed: ["refine", "research", "plan"],
      reviewsComplete: false,
      refinements: [
        {
          iteration: 1,
          agentType: "implement",
          startedAt: "2026-01-10T08:00:00Z",
          completedAt: "2026-01-10T08:20:00Z",
          reviewFeedback: "[blocker] export.ts:41: amounts are rounded\nUse the exact amount.",
          result: "failed",
        },
      ],
      maxReworks: 3,
      lastError: "Review rejected: 1 blocker",
      updated: "2026-01-10",
    });
    const edited = editFrontMatter(STORY, edits);
    expect(fieldsOf(edited)).toEqual({
      ...fieldsOf(STORY),
      implementation_complete: false,
      refinement_iterations: [
        {
          iteration: 1,
          agentType: "implement",
          startedAt: "2026-01-10T08:00:00Z",
          completedAt: "2026-01-10T08:20:00Z",
          reviewFeedback: "[blocker] export.ts:41: amounts are rounded\nUse the exact amount.",
          result: "failed",
        },
      ],
      refinement_count: 1,
      last_error: "Review rejected: 1 blocker",
      updated: "2026-01-10",
    });
    const kept = STORY.replace("implementation_complete: true", "implementation_complete: false").replace(
      "updated: '2026-01-09'",
      "updated: '2026-01-10'",
    );
    const [head, tail] = kept.split("---\n# Export");
    expect(edited.startsWith(head!)).toBe(true);
    expect(edited.endsWith(`---\n# Export${tail}`)).toBe(true);
    expect(readStoryFile("stories/export.md", edited).problems).toEqual([]);
  });

  // S4.7, S4.59
  it("keeps refinement notes by iteration, and a phase's product in its section", () => {
    const noted = appendRefinementNote(STORY, { iteration: 1, phase: "implement", feedback: "Use the exact amount." });
    expect(noted.startsWith(STORY)).toBe(true);
    expect(noted).toContain("## Refinement Notes\n\n### Iteration 1: implement\n\n> Use the exact amount.\n");
    const planned = replaceSection(noted, SECTION_OF_PHASE.plan, "# Plan\n\n1. Read amounts as they are.\n");
    expect(planned).toContain("\n## Implementation Plan\n\n### Plan\n\n1. Read amounts as they are.\n");
    expect(planned.startsWith(noted)).toBe(true);
    expect(readStoryFile("stories/export.md", planned).story?.criteria).toHaveLength(5);
  });

  // S4.69
  it("has its config read under S4's own names", () => {
    const text =
      "preset: story\nrefinement: { maxIterations: 3, escalateOnMaxAttempts: manual, enableCircuitBreaker: true }\n";
    const { policy } = resolveConfig({
      layers: [{ ...readYaml("remand.yaml", text), name: "project" }],
    });
    expect(policy).toMatchObject({ limits: { failures: { review: 4 } }, onExhausted: "manual", circuitBreaker: true });
  });
});
