/** The scripts of a `package.json` by their names; none where it is no JSON: that it is broken shows when the checks run. */
export function allScripts(text: string | null): Map<string, string> {
  const found = new Map<string, string>();
  try {
    const whole = JSON.parse(text ?? "{}") as { readonly scripts?: Readonly<Record<string, unknown>> } | null;
    for (const [name, script] of Object.entries(whole?.scripts ?? {}))
      if (typeof script === "string") found.set(name, script);
  } catch {
    return found;
  }
  return found;
}

/** Those that are called after tests and other checks. */
export const testScripts = (text: string | null): Map<string, string> =>
  new Map([...allScripts(text)].filter(([name]) => TESTS.test(name)));

const TESTS = /^(?:pre|post)?(?:test|check|verify|ci|lint|typecheck|types|coverage)(?:[:._-]|$)/;
