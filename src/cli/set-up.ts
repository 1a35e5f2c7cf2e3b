import { join } from "node:path";
import { memberOf, scanJson } from "../writers/json-scan.ts";
import { partsOf, type Part, type SetupName } from "./client-parts.ts";
import type { Checkout } from "./command.ts";
import { install, type Deed } from "./install.ts";
import { uninstall } from "./uninstall.ts";

export interface SetupWish {
  readonly setups: readonly SetupName[];
  readonly isDry: boolean;
  readonly isRemoval: boolean;
}

/** Puts in, or takes out, what belongs to these setups; and what the person has to know about it. */
export async function setUp(
  { cwd, files }: Checkout,
  { setups, isDry, isRemoval }: SetupWish,
): Promise<{ readonly deeds: readonly Deed[]; readonly next: readonly string[] }> {
  const parts: Part[] = [];
  for (const setup of setups) parts.push(...(await partsOf(setup, files)));
  if (isRemoval) return { deeds: await uninstall(files, cwd, parts, isDry), next: [] };
  const deeds = await install(files, cwd, parts, isDry);
  if (isDry) return { deeds, next: [] };
  const isOff = setups.includes("claude") && (await hooksAreOff(files, cwd));
  const hasConfig = (await files.read(join(cwd, "remand.yaml"))) !== null;
  const isInside = setups.some((setup) => setup !== "roles");
  const without = "next: remand init; without a remand.yaml the hook does nothing";
  return {
    deeds,
    next: [
      ...setups.flatMap((setup) => NEXT[setup]),
      ...(isOff ? [OFF] : []),
      ...(hasConfig || !isInside ? [] : [without]),
    ],
  };
}

/** A setting of the user's that is left alone makes all of it useless: that must not be found out later. */
async function hooksAreOff(files: Checkout["files"], root: string): Promise<boolean> {
  const scan = scanJson((await files.read(join(root, ".claude/settings.json"))) ?? "");
  return scan.ok && memberOf(scan.root, "disableAllHooks")?.node.value === true;
}

const OFF = "no hook runs yet: .claude/settings.json says disableAllHooks";

/** What each client asks of the person before it uses what was put in. */
const NEXT: { readonly [S in SetupName]: readonly string[] } = {
  claude: ["Claude Code asks once whether it may use the server remand of .mcp.json; say yes to have its tools"],
  codex: [
    "Codex runs the hooks after you have trusted the project and, in /hooks, these two; until then it skips them",
  ],
  roles: ["the roles are yours now: change them as you like"],
};

const WORDS: { readonly [D in Deed["did"]]: readonly [now: string, dry: string] } = {
  wrote: ["wrote", "would write"],
  changed: ["added to", "would add to"],
  there: ["unchanged", "unchanged"],
  left: ["left", "would leave"],
  removed: ["removed", "would remove"],
  restored: ["restored", "would restore"],
  cut: ["changed", "would change"],
};

export function deedLines(deeds: readonly Deed[], isDry: boolean): string {
  if (deeds.length === 0) return "nothing of it is here\n";
  const said = deeds.map(({ path, did, why }) => [WORDS[did][isDry ? 1 : 0], `${path}${why === "" ? "" : `: ${why}`}`]);
  const width = Math.max(...said.map(([word]) => word!.length));
  return said.map(([word, rest]) => `${word!.padEnd(width)}  ${rest}\n`).join("");
}
