import type { Autonomy, Policy, PresetName } from "../domain/policy.ts";
import type { Config, ConfigPart } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import { overlay, type TreeMap } from "./merge.ts";
import { policyOf } from "./policy-of.ts";
import { PRESET_PARTS } from "./presets/presets.ts";

/** A preset as it is, without any file of a person's. */
export function presetPolicy(name: PresetName): Policy {
  return policyOf(presetConfig(name));
}

export function presetConfig(name: PresetName): Config {
  const layers: ConfigPart[] = [AUTONOMY_PARTS[DEFAULTS.autonomy], PRESET_PARTS[name], { preset: name }];
  let config = DEFAULTS as unknown as TreeMap;
  for (const layer of layers) config = overlay(config, layer as unknown as TreeMap);
  return config as unknown as Config;
}

/** How far a person lets it go changes these defaults, unless somebody set them. */
export const AUTONOMY_PARTS: { readonly [A in Autonomy]: ConfigPart } = {
  conservative: { concurrency: { stories: 1 } },
  standard: {},
  full: { concurrency: { stories: 3 }, merge: "auto" },
};
