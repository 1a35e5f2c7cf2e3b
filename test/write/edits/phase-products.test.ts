import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findFrontMatter } from "../../../src/stdx/text-lines.ts";
import {
  isTextPhase,
  productEdited,
  productIn,
  replaceProduct,
  withoutProducts,
} from "../../../src/write/edits/story-sections.ts";

const MINE = "---\nid: a\n---\n# A\n\n## Research\n\nMy own notes.\n\n## Dependencies\n\n- b\n";
const WRITTEN = `${MINE}\n## Research\n\n<!-- remand: research -->\n\nFound.\n`;

describe("a phase's product", () => {
  it("is added after the person's text, marked, and a person's section of the same name stays", () => {
    expect(replaceProduct(MINE, "research", "Found.", false)).toBe(WRITTEN);
    expect(productIn(WRITTEN, "research", false)).toBe("Found.");
    expect(productIn(MINE, "research", false)).toBeNull();
    expect(replaceProduct(WRITTEN, "research", "Found more.", false)).toBe(WRITTEN.replace("Found.", "Found more."));
  });

  it("is the unmarked section if the story's file calls the phase complete, until it is rewritten", () => {
    expect(productIn(MINE, "research", true)).toBe("My own notes.");
    const again = replaceProduct(MINE, "research", "Better.", true);
    expect(again).toBe(MINE.replace("My own notes.", "<!-- remand: research -->\n\nBetter."));
    expect(productIn(again, "research", false)).toBe("Better.");
    expect(productIn("# A\n\n## Research\n\n", "research", true)).toBeNull();
  });

  it("is a section that was edited in the file, or added next to a person's own", () => {
    expect(productEdited(WRITTEN, WRITTEN, "research", false)).toBeNull();
    expect(productEdited(WRITTEN, WRITTEN.replace("Found.", "Edited."), "research", false)).toBe("Edited.");
    expect(productEdited(MINE, `${MINE}\n## Research\n\nAdded.\n`, "research", false)).toBe("Added.");
    expect(productEdited(MINE, MINE.replace("My own", "Its own"), "research", false)).toBe("Its own notes.");
    expect(productEdited(MINE, `${MINE}\n## Research\n\n`, "research", false)).toBeNull();
  });

  it("keeps the file's line ends, and is read as it was written", () => {
    const text = replaceProduct("# A\r\n", "plan", "1. x\n2. y", false);
    expect(text).toBe("# A\r\n\r\n## Implementation Plan\r\n\r\n<!-- remand: plan -->\r\n\r\n1. x\r\n2. y\r\n");
    expect(productIn(text, "plan", false)).toBe("1. x\n2. y");
  });

  it("can be separated from the person's request", () => {
    const all = replaceProduct(WRITTEN, "plan", "1. x", false);
    expect(withoutProducts(all, []).trimEnd()).toBe(MINE.trimEnd());
    expect(withoutProducts(MINE, ["research"])).not.toContain("My own notes.");
    expect(withoutProducts(MINE, [])).toBe(MINE);
  });

  it("exists for every phase except implement", () => {
    expect((["refine", "research", "plan", "implement"] as const).map(isTextPhase)).toEqual([true, true, true, false]);
  });

  it("leaves every byte of the person's text, whatever it is, and is read as it was written", () => {
    const line = fc.constantFrom(
      "text",
      "# T",
      "## Research",
      "## Other",
      "### Sub",
      "",
      "- [ ] x",
      "<!-- remand: plan -->",
    );
    const text = fc.array(line, { maxLength: 12 }).map((lines) => `${lines.join("\n")}\n`);
    fc.assert(
      fc.property(text, text, text, (story, first, second) => {
        fc.pre(findFrontMatter(story).kind !== "unterminated" && first.trim() !== "" && second.trim() !== "");
        const once = replaceProduct(story, "research", first, false);
        const twice = replaceProduct(once, "research", second, false);
        expect(once.startsWith(story)).toBe(true);
        expect(twice.startsWith(story)).toBe(true);
        expect(productIn(twice, "research", false)).toBe(
          productIn(replaceProduct("", "research", second, false), "research", false),
        );
      }),
    );
  });
});
