import type { Host } from "../cli/host.ts";
import { watchFolder } from "../adapters/files/watch-folder.ts";
import { stateFolder } from "./state-folder.ts";

/**
 * The real engine and journal of a checkout, for the commands and for the library. Each part is loaded by the first
 * who asks for it: to look at how the stories stand, nobody needs git, gates and agents. `db`: looks at the journal in
 * that database, and not at the checkout's own.
 */
export function createHost(env: Readonly<Record<string, string | undefined>>, db: string | null = null): Host {
  return {
    at: (other) => createHost(env, other),
    glance: async (root, only) => (await import("./glance.ts")).glance(root, db, only),
    closeUp: async (root, of) => (await import("./glance.ts")).closeUp(root, db, of),
    journalTrouble: async (root, chain) =>
      db === null
        ? (await import("./journal-trouble.ts")).journalTrouble(root, stateFolder(root).journal, chain)
        : null,
    look: async (root) => (await import("./look.ts")).look(root, db),
    verify: async (root, onProgress) => (await import("./verify-journal.ts")).verifyJournal(root, db, onProgress),
    tell: async (root, stream, events) => (await import("./tell.ts")).tell(root, db, stream, events),
    own: async (root, plan) => (await import("./own.ts")).own(root, plan, env),
    clone: async (plan) => (await import("./worker.ts")).clone(plan),
    work: async (root, plan) => (await import("./worker.ts")).work(root, plan, env),
    preflight: async (root, plan) => (await import("./preflight.ts")).preflight(root, plan, env),
    gate: async (root, plan) => (await import("./gate.ts")).gate(root, plan, env),
    blame: async (root, plan) => (await import("./blame.ts")).blame(root, plan, env),
    stop: async (root, plan) => (await import("./hook.ts")).stop(root, plan, env),
    offer: async (tools, about) => (await import("./mcp.ts")).offer(tools, about),
    probe: async (root, programs, checks) => (await import("./probe.ts")).probe(root, programs, checks, env, db),
    serve: async (root, plan) => (await import("./serve.ts")).serve(root, db, plan, env),
    migrate: async (root, plan) => (await import("./migrate.ts")).migrate(root, plan),
    watchFolder,
    demoRepository: async (files) => (await import("./demo-repository.ts")).demoRepository(files),
  };
}
