import type { EvidenceId } from "../core/events/ids.ts";
import type { Head } from "../ports/journal.ts";

export interface MigratePlan {
  readonly to: string;
  readonly dryRun: boolean;
  /** Only the tables and roles: the checkout's journal stays where it is. */
  readonly noMove?: boolean;
  /** The names of the roles begin with it. */
  readonly roles?: string;
  onProgress(what: "lines" | "evidence", copied: number, of: number): void;
}

export interface MigrationResult {
  /** The place, without user and password. */
  readonly to: string;
  readonly lines: number;
  readonly evidence: number;
  readonly outbox: number;
  /** `null`: nothing was to be moved. */
  readonly head: Head | null;
  /** Evidence that was not what its name says, and stayed behind. */
  readonly damaged: readonly EvidenceId[];
  readonly roles: MigratedRoles;
}

/** Who owns the tables, who may append, and who may read. */
export type MigratedRoles =
  | { readonly state: "planned"; readonly roles: FleetRoles }
  | {
      readonly state: "made";
      readonly roles: FleetRoles;
      readonly created: readonly string[];
      /** Owned the tables until now, and is one of the workers from now on. */
      readonly formerOwner: string | null;
      /** Whether the tables of the queue are there; their library may not be installed here. */
      readonly hasQueue: boolean;
      /** Whether workers and readers are kept from statements that could stall appends. Only a superuser can do that. */
      readonly hasGuard: boolean;
    }
  | {
      readonly state: "refused";
      readonly user: string;
      readonly why: string;
      readonly statements: readonly string[];
    };

export interface FleetRoles {
  readonly owner: string;
  readonly worker: string;
  readonly reader: string;
}
