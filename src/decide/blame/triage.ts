import type { BlameMaterial } from "../../core/blame/change.ts";
import { type Failure, saysNothing } from "../../core/blame/failure.ts";
import { testBody } from "./reach.ts";
import type { Rename } from "./renames.ts";

/** Output of broken environments, with the reason to report for each. */
const ENVIRONMENT_FAILURES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /\b(?:ENOTFOUND|EAI_AGAIN)\b|getaddrinfo|Name or service not known|Temporary failure in name resolution|could not resolve host|no such host/i,
    "a name on the network was not found",
  ],
  [/\bEADDRINUSE\b|address already in use/i, "a port was already in use"],
  [
    /\b(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH)\b|connection refused|network is unreachable/i,
    "another service was not reachable",
  ],
  [
    /unsupported locale setting|cannot (?:set|change) locale|Setting locale failed|locale\.Error/i,
    "a locale is not installed",
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
    /: command not found|^(?:\/\S*\/)?(?:\w*sh|env|exec|nice|timeout)\b[^:]*: .*\b(?:not found|No such file or directory)\b|executable file not found in \$PATH|is not recognized as an internal or external command|Executable doesn't exist|spawn \S+ ENOENT|error: no such command/i,
    "a program is missing",
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

/** Only counts outside a named test: inside one, it is output of the project's own program. */
const UNKNOWN_OPTION = /(?:unknown|unrecognized|bad) (?:option|flag|argument)s?\b|error: unknown command/i;

/** Says why the environment, and no change, may have caused the failure; `null` if there is no sign of it. */
export function environmentReason({ failure, hunks, files }: BlameMaterial): string | null {
  const texts = failure.failures.map((each) => [each.message, ...each.codes].join(" "));
  if (texts.length === 0) return null;
  // A broken service also causes other failures, so the majority of the failures decides.
  for (const [pattern, reason] of ENVIRONMENT_FAILURES)
    if (texts.filter((text) => pattern.test(text)).length > texts.length / 2) return reason;
  if (failure.failures.every(({ test, message }) => test === null && UNKNOWN_OPTION.test(message)))
    return "the runner does not know one of its options";
  const missing = failure.failures.map((each) => missingModule(each.message));
  const module = missing[0];
  if (module === undefined || module === null || missing.some((each) => each === null)) return null;
  // A module that the iteration itself imports, or that the project had, is the project's own fault.
  const stem = module.split("/").at(-1)!;
  const isOurs =
    /^[./]/.test(module) || [...files.keys()].some((path) => path.includes(`${stem}.`) || path.includes(`/${stem}/`));
  const isNamed = hunks.some((hunk) =>
    [...hunk.added, ...hunk.removed, hunk.oldFile].some((line) => line.includes(module)),
  );
  return isOurs || isNamed ? null : `\`${module}\` is not installed, and nothing that changed asks for it`;
}

function missingModule(message: string): string | null {
  return (
    /(?:Cannot find (?:module|package)|Can't resolve|No module named|unresolved import|cannot find package|no required module provides package|can't find crate for) ["'`]?([\w@./-]+)/i.exec(
      message,
    )?.[1] ?? null
  );
}

const CHANCE =
  /^(?:random|randomUUID|uuid|uuid4|shuffle|setTimeout|setInterval|sleep|performance|now|today|utcnow|monotonic|Thread|threading|asyncio|concurrent)$/;

/** Whether there is a sign of a flaky failure: no change is reached, or the tests depend on time and chance. */
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
 * Returns the hunks of the failing tests, whether all of these tests are new with the iteration, and whether their
 * failures have no content. An existing test that only follows a rename elsewhere is not pinned: on the base it would
 * not build.
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
  // A test file that does not build asks for something, as its tests do.
  const isOfTest = ({ test, category, file }: Failure): boolean =>
    file !== null && (test !== null || (UNBUILT.has(category) && files.get(file)?.isTest === true));
  const tests = failure.failures.filter(isOfTest);
  let known = 0;
  for (const each of tests) {
    const inFile = hunks.filter((hunk) => hunk.file === each.file);
    const body = testBody(files.get(each.file!), each);
    const isNewFile = inFile.some((hunk) => hunk.change === "added");
    const old = before.get(inFile[0]?.oldFile ?? "");
    const isUnbuilt = each.test === null && inFile.length > 0;
    if (
      isNewFile ||
      isUnbuilt ||
      (body !== null && old !== undefined && !old.symbols.some((symbol) => symbol.name === body.name))
    ) {
      // If tests are in the file of the code, as in Rust, the rest of the file is not a test.
      const isOwn = ({ start, end }: (typeof inFile)[number]): boolean =>
        files.get(each.file!)?.isTest !== false || (body !== null && start <= body.end && end >= body.start);
      for (const hunk of inFile) if (isOwn(hunk)) pinned.add(hunk.id);
      if (isUnbuilt && !isNewFile) known++;
      continue;
    }
    known++;
    if (body !== null)
      for (const hunk of inFile)
        if (hunk.start <= body.end && hunk.end >= body.start && !follows(hunk.id)) pinned.add(hunk.id);
  }
  return { pinned: [...pinned].sort((a, b) => a - b), isNewTest: tests.length > 0 && known === 0, isVague };
}

const UNBUILT: ReadonlySet<Failure["category"]> = new Set(["build", "type"]);

/** Names shared by more hunks do not show which of them belong together. */
const MOST_SHARING = 12;
const SHORTEST_NAME = 4;

/**
 * Finds hunks that can only be reverted together, as far as names show: they share a name that this iteration added or
 * removed. Half of a rename does not build, and its failure shows nothing about the cause.
 */
export function companionsOf(
  { hunks, files, before }: BlameMaterial,
  renames: readonly Rename[] = [],
): ReadonlyMap<number, readonly number[]> {
  const [old, now] = [namesIn(before), namesIn(files)];
  // Restored lines follow a rename, so it connects no hunks.
  const followed = new Set(renames.flatMap(({ from, to }) => [from, to]));
  const sharing = new Map<string, Set<number>>();
  for (const hunk of hunks) {
    for (const [lines, here, elsewhere] of [
      [hunk.added, now, old],
      [hunk.removed, old, now],
    ] as const) {
      for (const line of lines.slice(0, 2000)) {
        for (const [name] of line.matchAll(/[A-Za-z_$][\w$]*/g)) {
          // Keywords are no names, so they cannot have been added or removed.
          if (name.length < SHORTEST_NAME || !here.has(name) || elsewhere.has(name) || followed.has(name)) continue;
          const ids = sharing.get(name);
          if (ids === undefined) sharing.set(name, new Set([hunk.id]));
          else ids.add(hunk.id);
        }
      }
    }
  }
  const companions = new Map<number, Set<number>>();
  for (const ids of sharing.values()) {
    if (ids.size < 2 || ids.size > MOST_SHARING) continue;
    for (const id of ids) companions.set(id, new Set([...(companions.get(id) ?? []), ...ids]));
  }
  return new Map(
    [...companions].map(([id, others]) => [id, [...others].filter((other) => other !== id).sort((a, b) => a - b)]),
  );
}

function namesIn(files: BlameMaterial["files"]): Set<string> {
  const names = new Set<string>();
  for (const file of files.values()) for (const line of file.names) for (const name of line) names.add(name);
  return names;
}

/** Returns a set of hunks with everything that must be reverted with it. */
export function closedOver(ids: readonly number[], companions: ReadonlyMap<number, readonly number[]>): number[] {
  const closed = new Set(ids);
  const queue = [...ids];
  for (let at = 0; at < queue.length; at++) {
    for (const other of companions.get(queue[at]!) ?? []) {
      if (closed.has(other)) continue;
      closed.add(other);
      queue.push(other);
    }
  }
  return [...closed].sort((a, b) => a - b);
}
