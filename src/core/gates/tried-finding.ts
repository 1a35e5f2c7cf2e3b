import type { triedFindingSchema } from "../schemas/escalation.ts";
import type { Stored } from "../schemas/stored.ts";

/** A blocking finding of an earlier attempt, and what became of it. */
export type TriedFinding = Stored<typeof triedFindingSchema>;

/**
 * `open`: reported in the newest attempt. `unchecked`: open when the gate last ran, and a later attempt did not get that
 * far. `lighter`: still reported, no longer blocking.
 */
export const TRIED_FINDING_STATUSES = ["open", "unchecked", "lighter", "waived", "overturned", "fixed"] as const;
export type TriedFindingStatus = (typeof TRIED_FINDING_STATUSES)[number];

export const isOpenStatus = (status: TriedFindingStatus): boolean => status === "open" || status === "unchecked";

/** What became of a finding, in words. */
export function statusText({ status, seenIn, fixedIn }: Pick<TriedFinding, "status" | "seenIn" | "fixedIn">): string {
  switch (status) {
    case "open":
      return fixedIn === undefined ? "open" : `came back after attempt ${fixedIn} had fixed it`;
    case "unchecked":
      return `open, not checked since attempt ${seenIn}`;
    case "lighter":
      return "still reported, no longer blocking";
    case "waived":
      return "waived";
    case "overturned":
      return "overturned";
    case "fixed":
      return `fixed in attempt ${seenIn}`;
  }
}

/** Where a finding is, as `file:line`; empty where no file is known. */
export function locationText({ file, line }: Pick<TriedFinding, "file" | "line">): string {
  return file === undefined ? "" : line === undefined ? file : `${file}:${line}`;
}
