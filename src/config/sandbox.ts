import type { Problem } from "../core/events/error.ts";
import type { SandboxConfig } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import { type PlainLayer, isMap } from "./layer.ts";

/**
 * The user decides where agents and checks run; flags are the user's too. A project may require a sandbox, or take the
 * network away, and nothing else: what verifies an agent's work must not be loosened by a file that agents write.
 */
export function resolveSandbox(people: readonly PlainLayer[], problems: Problem[]): SandboxConfig {
  let sandbox: SandboxConfig = DEFAULTS.sandbox;
  for (const name of ["user", "project", "set"] as const) {
    for (const layer of people.filter((each) => each.name === name)) {
      const part = partIn(layer);
      if (name === "project") sandbox = tighten(sandbox, part, layer, problems);
      else sandbox = { ...sandbox, ...part };
    }
  }
  return sandbox;
}

/** `sandbox: off` is short for `sandbox: { mode: off }`. */
function partIn({ value }: PlainLayer): Partial<SandboxConfig> {
  const given = value["sandbox"];
  if (given === undefined) return {};
  return isMap(given) ? given : ({ mode: given } as Partial<SandboxConfig>);
}

function tighten(
  sandbox: SandboxConfig,
  part: Partial<SandboxConfig>,
  layer: PlainLayer,
  problems: Problem[],
): SandboxConfig {
  const { mode, network, ...rest } = part;
  const loose = [
    ...(mode === "off" ? ["mode: off"] : []),
    ...Object.keys(rest).map((key) => (key === "docker" && rest.docker === false ? "" : key)),
  ].filter((key) => key !== "");
  if (loose.length > 0)
    problems.push({
      ...layer.keyPlace(["sandbox"]),
      severity: "error",
      message: `a project cannot loosen the sandbox: ${loose.join(", ")}`,
      hint: "Write it into your own config, ~/.config/remand/config.yaml.",
    });
  return {
    ...sandbox,
    ...(mode === "required" ? { mode } : {}),
    ...(network === "none" ? { network } : {}),
    ...(rest.docker === false ? { docker: false } : {}),
  };
}
