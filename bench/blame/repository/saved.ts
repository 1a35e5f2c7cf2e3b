import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hunksBetween, type RepositoryCase } from "./cases.ts";
import type { RepositoryTrial } from "./trial.ts";
import type { Workshop } from "./workshop.ts";

/** A case without the parts that its trees determine. */
type SavedCase = Omit<RepositoryCase, "diff" | "hunks">;

/** A trial with the index of its case, and the size of its change. */
export type SavedTrial = Omit<RepositoryTrial, "case" | "brief"> & {
  readonly at: number;
  readonly brief: Omit<NonNullable<RepositoryTrial["brief"]>, "text"> | null;
  readonly repository: string;
  readonly case: Pick<RepositoryCase, "category" | "place" | "origin" | "label" | "kinds" | "truth"> & {
    readonly hunkCount: number;
    readonly files: number;
  };
};

/** The cases of a repository and their answers, in a folder: a later run continues or repeats them. */
export interface SavedCases {
  readonly trials: readonly SavedTrial[];
  cases(workshop: Workshop): Promise<readonly RepositoryCase[]>;
  /** Returns the index of the case. */
  addCase(each: RepositoryCase): number;
  addTrial(at: number, trial: RepositoryTrial): SavedTrial;
}

export function openSaved(folder: string | null, repository: string): SavedCases {
  if (folder !== null) mkdirSync(folder, { recursive: true });
  const file = (name: string): string | null => (folder === null ? null : join(folder, name));
  const [casesFile, trialsFile] = [file("cases.jsonl"), file("trials.jsonl")];
  const saved = linesOf<SavedCase>(casesFile);
  const trials = new Map(linesOf<SavedTrial>(trialsFile).map((trial) => [trial.at, trial]));
  return {
    get trials() {
      return [...trials.values()];
    },
    cases: (workshop) => Promise.all(saved.map((each) => restored(workshop, each))),
    addCase({ diff: _diff, hunks: _hunks, ...each }) {
      saved.push(each);
      if (casesFile !== null) appendFileSync(casesFile, `${JSON.stringify(each)}\n`);
      return saved.length - 1;
    },
    addTrial(at, trial) {
      const made = savedTrial(at, repository, trial);
      trials.set(at, made);
      const all = [...trials.values()].map((each) => `${JSON.stringify(each)}\n`);
      if (trialsFile !== null) writeFileSync(trialsFile, all.join(""));
      return made;
    },
  };
}

function linesOf<T>(path: string | null): T[] {
  if (path === null || !existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
}

async function restored(workshop: Workshop, each: SavedCase): Promise<RepositoryCase> {
  if (each.run.log !== null) await workshop.evidence.keep(each.run.log);
  const diff = await workshop.diff(each.base, each.tree);
  return { ...each, diff, hunks: await hunksBetween(workshop, each.base, each.tree) };
}

function savedTrial(at: number, repository: string, { case: each, brief, ...trial }: RepositoryTrial): SavedTrial {
  const { category, place, origin, label, kinds, truth, hunks } = each;
  const { text: _text, ...briefed } = brief ?? { text: "" };
  return {
    ...trial,
    at,
    repository,
    brief: brief === null ? null : (briefed as SavedTrial["brief"]),
    case: {
      category,
      origin,
      label,
      kinds,
      truth,
      hunkCount: hunks.length,
      files: new Set(hunks.map(({ file }) => file)).size,
      ...(place === undefined ? {} : { place }),
    },
  };
}

export const readSavedTrials = (folder: string): readonly SavedTrial[] => openSaved(folder, "").trials;
