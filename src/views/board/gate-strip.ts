import { countText } from "../../stdx/plain-text.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { Result } from "../../core/events/error.ts";
import type { StoryOutline } from "../../core/stories/outline.ts";
import type { Glyphs } from "../text/words.ts";

/** How one gate of the present phase stands, for a strip of them on one line. */
export interface GateMark {
  readonly gate: GateName;
  readonly standing: Result | "waived";
  /** Findings that stand between the work and a pass. */
  readonly blocking: number;
  /** What it passed the work in spite of. */
  readonly notes?: readonly string[];
}

/** The gates of the phase that have spoken of the work as it is now, in their order. `now`: a judgement just made. */
export function gateStrip(state: StoryOutline, now: Judgement | null = null): GateMark[] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.flatMap((gate): GateMark[] => {
    const known = state.gates[gate];
    const judgement = now?.gate === gate ? now : known?.fresh === true ? known.last : null;
    if (judgement === null || judgement === undefined) return [];
    const isWaived = judgement.result !== "pass" && state.waivers.some((waiver) => waiver.gate === gate);
    const standing = isWaived && now === null ? "waived" : judgement.result;
    const { notes } = judgement;
    return [{ gate, standing, blocking: judgement.blocking.length, ...(notes === undefined ? {} : { notes }) }];
  });
}

export function stripText(strip: readonly GateMark[], glyphs: Glyphs): string {
  return strip.map((mark) => `${mark.gate} ${standingText(mark, glyphs)}`).join("  ");
}

function standingText({ standing, blocking, notes = [] }: GateMark, glyphs: Glyphs): string {
  switch (standing) {
    case "pass":
      // In short: how many, and not which.
      return notes.length === 0
        ? glyphs.pass
        : `${glyphs.pass} (${notes.map((note) => note.split(": ")[0]).join(", ")})`;
    case "waived":
      return glyphs.waived;
    case "fail":
      return `${glyphs.fail} ${blocking > 0 ? countText(blocking, "finding") : "failed"}`;
    case "error":
      return `${glyphs.unproven} broke`;
    case "blocked":
      return `${glyphs.unproven} blocked`;
    case "inconclusive":
      return `${glyphs.unproven} proved nothing`;
  }
}
