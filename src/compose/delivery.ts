import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Config } from "../config/config.ts";
import { RemandError } from "../core/events/error.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { EngineWorld } from "../engine/world.ts";
import { readComments as pollComments } from "../engine/pr-comments.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { Clock } from "../ports/clock.ts";
import type { Forge } from "../ports/forge.ts";
import type { Integration } from "../ports/workspace.ts";
import { createGithubForge } from "../adapters/forge/github-forge.ts";
import type { OwnPython } from "../adapters/git/python/own-python.ts";
import type { WorkStarter } from "../adapters/git/dependencies/work-start.ts";
import { remoteAddress } from "../adapters/git/repository.ts";
import { environmentIn } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";
import { checkVariablesOf } from "./checks/check-variables.ts";
import { stateFolder } from "./state-folder.ts";
import { environmentWith } from "./checks/own-python.ts";
import type { Sandboxes } from "../adapters/sandbox/open-sandboxes.ts";

interface DeliveryParts {
  readonly root: string;
  readonly integration: Integration | null;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: OwnPython;
  readonly sandboxes: Sandboxes;
  /** The state before an agent worked. */
  readonly start: WorkStarter;
}

/** Creates the adapters that deliver work. */
export async function deliveryOf(
  config: Config,
  parts: DeliveryParts,
): Promise<Pick<EngineWorld, "integration" | "forge" | "fixLint" | "pullRequestDraft">> {
  const forge = await forgeOf(config, parts);
  const env = environmentWith(checkVariablesOf(parts.env, config).seen, parts.python, parts.start);
  const { fix } = config.gates.ci;
  const fixLint: EngineWorld["fixLint"] =
    fix === undefined
      ? null
      : async (path, { signal, onOutput }) => {
          // Its exit code does not matter: the CI run is judged again.
          await runProcess(
            {
              command: fix,
              cwd: path,
              env: await environmentIn(env, path),
              timeoutMs: FIX_MS,
              sandbox: parts.sandboxes.checks,
            },
            { signal, onLine: (line) => onOutput(line) },
          );
        };
  const { root } = parts;
  const pullRequestDraft: EngineWorld["pullRequestDraft"] = {
    hasRemote: async () => (await remoteAddress(root, config.forge.remote)) !== null,
    async write(story, text) {
      const file = join(stateFolder(root).path, "pull-requests", `${story}.md`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      return relative(root, file);
    },
  };
  return { integration: parts.integration, forge, fixLint, pullRequestDraft };
}

const FIX_MS = 10 * 60_000;

async function forgeOf({ forge }: Config, { root, clock, env }: DeliveryParts): Promise<Forge | null> {
  if (forge.use === "none") return null;
  const repository = forge.repository ?? repositoryIn(await remoteAddress(root, forge.remote));
  if (repository === null)
    throw new RemandError(
      "config-invalid",
      `the remote ${forge.remote} does not say which repository of GitHub's it is`,
      "Set `forge.repository: owner/name`.",
    );
  return createGithubForge({ api: forge.api, token: env[forge.tokenFrom] ?? null, repository, clock });
}

/** Reads the last two parts of `git@host:owner/name.git`, `https://host/owner/name`, `/somewhere/owner/name.git`. */
export function repositoryIn(address: string | null): string | null {
  const path = (address ?? "").replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*|^[^/:]+:/i, "/");
  const [, owner, name] = /\/([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || /^\.+$/.test(owner) || /^\.+$/.test(name)) return null;
  return `${owner}/${name}`;
}

export interface PrCommentPoller {
  /** Asks the forge for new comments, unless it was asked a moment ago. */
  poll(signal: AbortSignal): Promise<boolean>;
  /** Asks every few minutes and calls back on new comments. Returns a function that stops it. */
  keepPolling(onNew: () => void): () => void;
}

/** Reads the comments on proposed work from the forge; without a forge, does nothing. */
export function prCommentPoller(
  ledger: Ledger,
  { forge, clock }: Pick<EngineWorld, "forge" | "clock">,
  only: ReadonlySet<StoryId> | null,
  people: Config["people"],
  onNotice: (text: string) => void,
): PrCommentPoller {
  if (forge === null) return { poll: () => Promise.resolve(false), keepPolling: () => () => undefined };
  const accounts = Object.values(people).map(({ github }) => github);
  let askedAt = -Infinity;
  const poll: PrCommentPoller["poll"] = (signal) => {
    if (clock.now() - askedAt < OFTEN_ENOUGH_MS) return Promise.resolve(false);
    askedAt = clock.now();
    return pollComments({ ledger, forge, only, people: accounts, onNotice }, signal);
  };
  const pollAgain = async (onNew: () => void, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(OFTEN_ENOUGH_MS, signal);
      if (signal.aborted) return;
      if (await poll(signal)) onNew();
    }
  };
  return {
    poll,
    keepPolling: (onNew) => {
      const stop = new AbortController();
      // A journal error is reported by the next use of the journal.
      pollAgain(onNew, stop.signal).catch(onNew);
      return () => stop.abort();
    },
  };
}

const OFTEN_ENOUGH_MS = 3 * 60_000;
