import type { PresetName } from "../../domain/policy.ts";
import type { ConfigPart } from "../config.ts";
import { criticAudit } from "./critic-audit.ts";
import { factory } from "./factory.ts";
import { goal } from "./goal.ts";
import { story } from "./story.ts";

/** What each preset changes of the defaults. */
export const PRESET_PARTS: { readonly [N in PresetName]: ConfigPart } = {
  "critic-audit": criticAudit,
  factory,
  goal,
  story,
};
