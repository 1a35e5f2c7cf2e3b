import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { AgentRequest } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";

type Data = Readonly<Record<string, unknown>>;

/** What an agent wants to do, as far as it says. */
export interface WantedTool {
  readonly kind: string;
  readonly title: string;
  readonly paths: readonly string[];
}

/** A request may name a tool's call by its id alone, so what was said of it before is remembered. */
export function toolIn(call: Data, before: WantedTool | undefined): WantedTool {
  const { kind, title, locations } = call;
  const listed = Array.isArray(locations) ? locations : [];
  const paths = listed.flatMap((each: unknown) =>
    isRecord(each) && typeof each["path"] === "string" ? [each["path"]] : [],
  );
  return {
    kind: typeof kind === "string" ? kind : (before?.kind ?? "other"),
    title: typeof title === "string" ? title : (before?.title ?? "a tool"),
    paths: paths.length > 0 ? paths : (before?.paths ?? []),
  };
}

/** Nobody is there to be asked: access decides. What it does not plainly cover is refused. */
export function isAllowed(
  { kind, title, paths }: WantedTool,
  access: AgentRequest["access"],
  { cwd, mcpServer }: Pick<AgentRequest, "cwd" | "mcpServer">,
): boolean {
  if (access === "full" || LOOKS.has(kind)) return true;
  if (kind === "other")
    return mcpServer?.tools.some((tool) => new RegExp(`(?:^|[^a-z])${tool}(?:$|[^a-z_])`).test(title)) ?? false;
  return access === "edit" && CHANGES.has(kind) && paths.length > 0 && paths.every((path) => isBelow(cwd, path));
}

const LOOKS = new Set(["read", "search", "think"]);
const CHANGES = new Set(["edit", "delete", "move"]);

/** Where it really leads: a link in the worktree may lead out of it. */
function isBelow(folder: string, path: string): boolean {
  const way = relative(realOf(folder), realOf(resolve(folder, path)));
  return way !== "" && !way.startsWith("..") && !isAbsolute(way) && !/^\.git(?:[\\/]|$)/.test(way);
}

/** Of a file that is yet to be made: by the nearest folder that is there. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}

/** The answer by one of the options that were offered. For this once: an agent must not remember it for others. */
export function answerOf(options: unknown, isYes: boolean): Data {
  const wanted = isYes ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const offered = (Array.isArray(options) ? options : []).filter(isRecord);
  const found = wanted.flatMap((kind) => offered.filter((option) => option["kind"] === kind))[0];
  return {
    outcome: found === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: found["optionId"] },
  };
}
