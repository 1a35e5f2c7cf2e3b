import type { BlameMaterial } from "../../domain/change.ts";

import { saysNothing } from "../../domain/failure.ts";
import { companionsOf } from "./companions.ts";
import { testBody } from "./reach.ts";

/** What the surroundings say of themselves when they are at fault, and the sentence for it. */
const SURROUNDINGS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /\b(?:ENOTFOUND|EAI_AGAIN)\b|getaddrinfo|Name or service not known|could not resolve host/i,
    "a name on the network was not found",
  ],
  [/\bEADDRINUSE\b|address already in use/i, "a port was already in use"],
  [
    /\b(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH)\b|connection refused|network is unreachable/i,
    "another service was not reachable",
  ],
  [/\bENOSPC\b|no space left on device/i, "the disk was full"],
  [
    /\b(?:ENOMEM|OOMKilled)\b|heap out of memory|MemoryError|cannot allocate memory|\bSIGKILL\b/i,
    "there was not enough memory",
  ],
  [/\b(?:EMFILE|ENFILE)\b|too many open files/i, "too many files were open"],
  [/\b(?:EACCES|EPERM|EROFS)\b|permission denied|read-only file system/i, "access was refused"],
  [
    /certificate (?:has expired|verify failed)|CERT_HAS_EXPIRED|self.signed certificate/i,
    "a certificate was not accepted",
  ],
  [
    /: command not found|is not recognized as an internal or external command|Executable doesn't exist|spawn \S+ ENOENT/i,
    "a program is missing",
  ],
  [
    /(?:unknown|unrecognized|bad) (?:option|flag|argument)s?\b|error: unknown command/i,
    "the runner does not know one of its options",
  ],
  [
    /rate limit exceeded|\b(?:429 Too Many Requests|503 Service Unavailable|502 Bad Gateway)\b/i,
    "another service turned the request away",
  ],
  [
    /Cannot connect to the Docker daemon|database is locked|no such (?:table|database) server/i,
    "a service that the tests need was not there",
  ],
];

/** Why the failure may be one of the surroundings and of no change; `null` where nothing says so. */
export function environmentReason({ failure, hunks, files }: BlameMaterial): string | null {
  const texts = failure.failures.map((each) => [each.message, ...each.codes].join(" "));
  if (texts.length === 0) return null;
  for (const [pattern, reason] of SURROUNDINGS) if (texts.every((text) => pattern.test(text))) return reason;
  const missing = failure.failures.map((each) => missingModule(each.message));
  const module = missing[0];
  if (module === undefined || module === null || missing.some((each) => each === null)) return null;
  // What the iteration itself imports, or used to hold, is its own fault.
  const stem = module.split("/").at(-1)!;
  const isOurs =
    module.startsWith(".") || [...files.keys()].some((path) => path.includes(`${stem}.`) || path.includes(`/${stem}/`));
  const isNamed = hunks.some((hunk) =>
    [...hunk.added, ...hunk.removed, hunk.oldFile].some((line) => line.includes(module)),
  );
  return isOurs || isNamed ? null : `\`${module}\` is not installed, and nothing that changed asks for it`;
}

function missingModule(message: string): string | null {
  return (
    /(?:Cannot find (?:module|package)|Can't resolve|No module named|unresolved import|cannot find package) ["'`]?([\w@./-]+)/i.exec(
      message,
    )?.[1] ?? null
  );
}

const CHANCE =
  /^(?:random|randomUUID|uuid|uuid4|shuffle|setTimeout|setInterval|sleep|performance|now|today|utcnow|monotonic|Thread|threading|asyncio|concurrent)$/;

/** Does something speak for a flake: nothing that changed is reached, or the tests play with time and chance? */
export function flakyHint({ failure, files }: BlameMaterial, isReached: boolean): boolean {
  if (!isReached) return true;
  return failure.failures.some((each) => {
    if (/\btime[d ]?-? ?out\b|timed out|deadline exceeded|socket hang up/i.test(each.message)) return true;
    const file = files.get(each.file ?? "");
    const body = testBody(file, each);
    if (file === undefined || body === null) return false;
    return file.names.slice(body.start - 1, body.end).some((names) => names.some((name) => CHANCE.test(name)));
  });
}

/**
 * The hunks of the failing tests themselves, whether all of these tests are new with the iteration, and whether they fail
 * without a word. A test that was
 * there before and only follows a change of names elsewhere is not pinned: on the base it would not even build.
 */
export function testHunks(material: BlameMaterial): { pinned: number[]; isNewTest: boolean; isVague: boolean } {
  const { failure, hunks, files, before } = material;
  const companions = companionsOf(material);
  const isVague = failure.failures.some(
    (each) => each.expected === null && each.actual === null && saysNothing(each.message),
  );
  const pinned = new Set<number>();
  const fileOf = new Map(hunks.map((hunk) => [hunk.id, hunk.file]));
  const follows = (id: number): boolean =>
    (companions.get(id) ?? []).some((other) => fileOf.get(other) !== fileOf.get(id));
  const tests = failure.failures.filter((each) => each.test !== null && each.file !== null);
  let known = 0;
  for (const each of tests) {
    const inFile = hunks.filter((hunk) => hunk.file === each.file);
    const body = testBody(files.get(each.file!), each);
    const isNewFile = inFile.some((hunk) => hunk.change === "added");
    const old = before.get(inFile[0]?.oldFile ?? "");
    if (isNewFile || (body !== null && old !== undefined && !old.symbols.some((symbol) => symbol.name === body.name))) {
      for (const hunk of inFile) pinned.add(hunk.id);
      continue;
    }
    known++;
    if (body !== null)
      for (const hunk of inFile)
        if (hunk.start <= body.end && hunk.end >= body.start && !follows(hunk.id)) pinned.add(hunk.id);
  }
  return { pinned: [...pinned].sort((a, b) => a - b), isNewTest: tests.length > 0 && known === 0, isVague };
}
