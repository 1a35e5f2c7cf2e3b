import { isRecord } from "../stdx/assert.ts";
import type { World } from "./command.ts";
import { numberOf } from "./option-values.ts";

/** The pull request that was named, or that a workflow of GitHub's runs for; `null` where there is none. */
export async function pullRequestNumber(
  { env, files }: Pick<World, "env" | "files">,
  named: string | undefined,
): Promise<number | null> {
  if (named !== undefined) return numberOf("--pull-request", named, 1, 999_999_999);
  if (env["GITHUB_ACTIONS"] !== "true") return null;
  const inRef = /^refs\/pull\/(\d{1,9})\//.exec(env["GITHUB_REF"] ?? "")?.[1];
  if (inRef !== undefined) return Number(inRef);
  // Some events of a pull request run on its target branch.
  const file = env["GITHUB_EVENT_PATH"] ?? "";
  return file === "" ? null : numberIn((await files.read(file)) ?? "");
}

function numberIn(event: string): number | null {
  let read: unknown;
  try {
    read = JSON.parse(event);
  } catch {
    // Not a file of GitHub's: then it says nothing of a pull request.
    return null;
  }
  const pullRequest = isRecord(read) ? read["pull_request"] : null;
  const number = isRecord(pullRequest) ? pullRequest["number"] : null;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : null;
}
