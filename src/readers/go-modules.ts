/**
 * Which code a module path of Go stands for. What the base already used stays what it was; what the work adds is its
 * own.
 */

/** The work's `go.mod` in which modules that the base knows are replaced as in the base, and by nothing else. */
export function mergeGoMod(base: string, work: string): string {
  const before = replacements(base);
  const known = new Set([...before.keys(), ...requiredModules(base)]);
  const now = [...replacements(work)].filter(([module]) => known.has(module));
  if (now.length === before.size && now.every(([module, by]) => before.get(module) === by)) return work;
  const kept = withoutReplacements(work, known);
  return [kept.trimEnd(), "", ...[...before].map(([module, by]) => `replace ${module} => ${by}`), ""].join("\n");
}

/** The modules that `vendor/modules.txt` names, each with the version that it stands for. */
export function vendoredModules(text: string): ReadonlyMap<string, string> {
  const named = [...text.matchAll(/^# (\S+) (v\S+.*|=> .*)$/gm)];
  return new Map(named.map(([, module = "", version = ""]) => [module, version]));
}

const REPLACEMENT = /^(\s*(?:replace\s+)?)([^\s()]+(?:\s+v\S+)?)\s+=>\s+(\S+(?:\s+v\S+)?)\s*(?:\/\/.*)?$/;

function replacements(text: string): ReadonlyMap<string, string> {
  const found = text.split("\n").map((line) => REPLACEMENT.exec(line));
  return new Map(found.flatMap((match) => (match === null ? [] : [[moduleOf(match[2]!), match[3]!]])));
}

/** A replacement may be for one version alone: it is one of that module all the same. */
const moduleOf = (left: string): string => left.split(/\s/)[0]!;

const requiredModules = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*(?:require\s+)?([^\s()]+)\s+v\d\S*\s*(?:\/\/.*)?$/gm)].map(([, module = ""]) => module);

const withoutReplacements = (text: string, known: ReadonlySet<string>): string =>
  text
    .split("\n")
    .filter((line) => {
      const left = REPLACEMENT.exec(line)?.[2];
      return left === undefined || !known.has(moduleOf(left));
    })
    .join("\n");
