import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentRequest } from "../../ports/agent.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { readOr } from "./process-table.ts";
import { readNote, writeNote } from "./run-files.ts";

/** The reports of agents that outlive the engine, and where they are made: the next engine takes up both. */
export interface KeptReports {
  open(call: Pick<AgentRequest, "key" | "turn">): KeptReport;
}

/** The report of one call of an agent. */
export interface KeptReport {
  /** What an engine that died has written; `null` where none did. */
  readonly last: object | null;
  write(report: object): void;
  /** The file stays until the journal has the result. */
  close(): void;
}

export function createKeptReports(folder: string, role: string): KeptReports {
  /** Two calls of the same role may be under way in one dispatch. */
  const isOpen = new Set<string>();
  return {
    open({ key, turn }) {
      const id = sha256(JSON.stringify([key, role, turn])).slice(0, 24);
      let name = `${id}${SUFFIX}`;
      for (let again = 2; isOpen.has(name); again++) name = `${id}-${again}${SUFFIX}`;
      isOpen.add(name);
      const path = join(folder, name);
      const note = readNote(path) as KeptNote | null;
      return {
        last: note?.key === key ? note.report : null,
        write(report) {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          writeNote(path, { key, report } satisfies KeptNote);
        },
        close: () => void isOpen.delete(name),
      };
    },
  };
}

/** Removes the reports of dispatches that are over. */
export function removeReports(folder: string, isOver: (key: string) => boolean): void {
  for (const name of readOr(() => readdirSync(folder), []))
    if (name.endsWith(SUFFIX) && isOver((readNote(join(folder, name)) as KeptNote | null)?.key ?? ""))
      rmSync(join(folder, name), { force: true });
}

interface KeptNote {
  readonly key: string;
  readonly report: object;
}

const SUFFIX = ".report.json";
