/** Flags of `go test` without a value; every other flag has one, after `=` or as the next word. */
const WITHOUT_VALUE = new Set(
  "v short failfast cover race msan asan a n x i c json work trimpath modcacherw linkshared benchmem fullpath artifacts".split(
    " ",
  ),
);
/** With these flags no test runs, or the output is not a list of tests. */
const NOT_A_RUN = new Set(["c", "n", "x", "list", "bench", "exec", "h", "help", "fuzz", "o"]);

/** Parses the arguments of `go test`. */
export function readGoArguments(words) {
  const flags = new Map();
  const packages = [];
  for (let at = 0; at < words.length; at++) {
    const flag = /^--?(?:test\.)?([a-zA-Z][\w.]*)(?:=(.*))?$/s.exec(words[at]);
    if (flag === null) {
      packages.push(words[at]);
      continue;
    }
    const [, name, value] = flag;
    if (name === "args") break;
    flags.set(name, value ?? (WITHOUT_VALUE.has(name) ? "true" : (words[++at] ?? "")));
  }
  const isOn = (name) => flags.has(name) && flags.get(name) !== "false";
  return {
    packages,
    isVerbose: isOn("v"),
    isJson: isOn("json"),
    isRun: ![...NOT_A_RUN].some(isOn),
  };
}
