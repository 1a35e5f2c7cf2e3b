import { RemandError } from "../../../core/events/error.ts";

/** What kept git from reaching a remote, as far as it can be told by its words. */
export type RemoteTrouble =
  /** May pass without a fix: the network, or another push at the same moment. */
  | "passing"
  | "no-repository"
  | "no-rights"
  /** It is reached, and has no such branch or commit. */
  | "not-there"
  | "other";

/** In the order in which they count: a connection also ends because of something, and then both are said. */
const WORDS: readonly (readonly [RemoteTrouble, RegExp])[] = [
  ["not-there", /couldn't find remote ref|not our ref|unadvertised object|remote branch .* not found/i],
  ["no-rights", /permission denied|authentication failed|could not read (?:username|password)|error: 40[13]\b/i],
  ["no-rights", /service not enabled|insufficient permission|access (?:denied|rejected)(?! or)|not allowed to push/i],
  ["no-rights", /hook declined|protected branch|read-only|dubious ownership|is not allowed|denied to /i],
  ["no-repository", /does not appear to be a git repository|repository (?:'.*' )?(?:not found|does not exist)/i],
  ["no-repository", /repository not exported|no such (?:repository|project)|error: 404\b|not a git repository/i],
  ["passing", /could not resolve host|connection (?:refused|reset|timed out|closed)|network is (?:unreachable|down)/i],
  [
    "passing",
    /no route to host|unable to (?:connect|look ?up)|operation timed out|temporary failure|took longer than/i,
  ],
  [
    "passing",
    /early eof|hung up unexpectedly|unexpected disconnect|rpc failed|broken pipe|was ended by sig|gnutls_handshake/i,
  ],
  ["passing", /requested url returned error: (?:429|5\d\d)|failed to report status|kex_exchange_identification/i],
  [
    "passing",
    /cannot lock ref|unable to lock|failed to (?:update|write) ref|incorrect old value|\.lock': file exists/i,
  ],
  // A worktree is being made in the clone, and is not quite there yet.
  ["passing", /bad object worktrees\//i],
  ["no-repository", /does not exist/i],
];

export function troubleIn(words: string): RemoteTrouble {
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0] ?? "other";
}

/** The same for a person. `words` must hold no login any more. */
export function remoteError(what: string, address: string, words: string): RemandError {
  const said = words.trim().split("\n").slice(-3).join(" ").trim();
  switch (troubleIn(words)) {
    case "passing":
      return new RemandError(
        "forge-unreachable",
        `${what}: ${address} cannot be reached, or is busy: ${said}`,
        "Look at the network and at the remote; the step is tried again by itself.",
      );
    case "no-repository":
      return new RemandError(
        "not-a-repository",
        `${what}: there is no repository at ${address}, or it does not let us in`,
        "Look at the address, and at who may read and push there: git ls-remote.",
      );
    case "no-rights":
      return new RemandError(
        "forge-refused",
        `${what}: ${address} does not allow it: ${said}`,
        "Give this worker a login, or a key, that may read and push there (branches remand/* and refs/remand/*).",
      );
    default:
      return new RemandError(
        "git-failed",
        `${what}: ${said === "" ? "git does not say why" : said}`,
        "See what git says, fix it at the remote or in the clone, and run the same command again.",
      );
  }
}
