import type { Host } from "../app/host.ts";
import { watchFolder } from "../adapters/files/node-files.ts";
import type { Tool } from "../ports/agent.ts";
import type { StreamEvents } from "../ports/journal.ts";
import { serveStdio } from "../adapters/mcp/transports.ts";
import { learnVariables, ownRedactor } from "../adapters/process/own-secrets.ts";
import { stateFolder } from "./state-folder.ts";

/**
 * Creates the host for commands and the library: the real engine and journal of a checkout. Each part is loaded on
 * first use: showing the status of stories needs no git, gates or agents. `db`: uses the journal in that database
 * instead of the checkout's own.
 */
export function createHost(env: Readonly<Record<string, string | undefined>>, db: string | null = null): Host {
  learnVariables(env);
  return {
    at: (other) => createHost(env, other),
    clean: (text) => ownRedactor().text(text),
    withTokenFile: (file) => createHost({ ...env, REMAND_TOKEN_FILE: file }, db),
    readOutline: async (root, only) => (await import("./journal/read-journal.ts")).readOutline(root, db, only),
    readStories: async (root, of) => (await import("./journal/read-journal.ts")).readStories(root, db, of),
    journalTrouble: async (root, chain) =>
      db === null
        ? (await import("./journal/journal-past.ts")).journalTrouble(root, stateFolder(root).journal, chain)
        : null,
    openView: async (root) =>
      (await import("./journal/read-journal.ts")).openView(
        root,
        db,
        async () => (await (await import("./journal/author.ts")).speakerIn(root, env)).type === "person",
      ),
    output: async (root) =>
      db === null
        ? (await import("../adapters/evidence/output-ring.ts")).createOutputReader(stateFolder(root).output)
        : null,
    verify: async (root, onProgress) =>
      (await import("./journal/verify-journal.ts")).verifyJournal(root, db, env, onProgress),
    verifyCommits: async (root, plan) => (await import("./receipts/verify-commits.ts")).verifyCommits(root, plan),
    receiptKeys: async (root, rotate) => (await import("./receipts/user-key.ts")).receiptKeys(root, env, rotate),
    receiptFiles: async (root) =>
      db === null ? (await import("./receipts/kept-receipts.ts")).receiptFiles(root) : new Map<string, string>(),
    appendEvents: (root, stream, events) => appendEach(root, db, env, [{ stream, events }]),
    appendEach: (root, streams) => appendEach(root, db, env, streams),
    makeToken: async (root, rotate) =>
      (await import("./journal/author.ts")).makeTokenFor(root, env, rotate, Date.now()),
    openEngine: async (root, plan) => (await import("./open-engine.ts")).openEngine(root, plan, env),
    clone: async (plan) => (await import("./worker/worker.ts")).clone(plan),
    work: async (root, plan) => (await import("./worker/worker.ts")).work(root, plan, env),
    preflight: async (root, plan) => (await import("./checks/preflight.ts")).preflight(root, plan, env),
    gate: async (root, plan) => (await import("./checks/gate.ts")).gate(root, plan, env),
    blame: async (root, plan) => (await import("./checks/blame.ts")).blame(root, plan, env),
    stop: async (root, plan) => (await import("./checks/hook.ts")).stop(root, plan, env),
    offer,
    probe: async (root, programs, checks) => (await import("./probe.ts")).probe(root, programs, checks, env, db),
    hide: async (root, plan) => (await import("./hidden-files.ts")).hide(root, plan, env),
    serve: async (root, plan) => (await import("./serve.ts")).serve(root, db, plan, env),
    rehearse: async (root, plan) => (await import("./rehearse.ts")).rehearse(root, plan, env),
    migrate: async (root, plan) => (await import("./journal/migrate.ts")).migrate(root, plan),
    watchFolder,
    userName: async (root) => (await import("../adapters/git/repository.ts")).userName(root, env),
    demoRepository: async (files) => (await import("./demo-repository.ts")).demoRepository(files),
  };
}

async function appendEach(
  root: string,
  db: string | null,
  env: Readonly<Record<string, string | undefined>>,
  streams: readonly StreamEvents[],
): Promise<void> {
  const { appendAnswers } = await import("./journal/append-answer.ts");
  const { speakerIn } = await import("./journal/author.ts");
  await appendAnswers(root, db, streams, await speakerIn(root, env), env);
}

/** Offers MCP tools to the program that started this one, until the input ends. */
async function offer(
  tools: readonly Tool[],
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<void> {
  await serveStdio(tools, { version, signal, input: process.stdin, output: process.stdout });
}
