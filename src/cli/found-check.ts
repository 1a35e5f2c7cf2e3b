import { join } from "node:path";
import type { Checkout } from "./command.ts";

/** The test command that people would type here, by the files that say so; `null` where none does. */
export async function foundCheck({ cwd, files }: Checkout): Promise<string | null> {
  const text = (name: string): Promise<string | null> => files.read(join(cwd, name));
  const has = async (...names: readonly string[]): Promise<boolean> =>
    (await Promise.all(names.map(text))).some((found) => found !== null);
  if (hasTestScript(await text("package.json"))) return "npm test";
  if (await has("Cargo.toml")) return "cargo test";
  if (await has("go.mod")) return "go test ./...";
  if (await has("pyproject.toml", "pytest.ini")) return "pytest -q";
  if (await has("pom.xml")) return (await has("mvnw")) ? "./mvnw test" : "mvn test";
  if (await has("build.gradle", "build.gradle.kts")) return (await has("gradlew")) ? "./gradlew test" : "gradle test";
  if (await has("mix.exs")) return "mix test";
  for (const name of ["GNUmakefile", "makefile", "Makefile"]) {
    const rules = await text(name);
    const target = ["test", "check"].find((each) => new RegExp(`^${each}\\s*:(?!=)`, "m").test(rules ?? ""));
    if (target !== undefined) return `make ${target}`;
  }
  return null;
}

/** What `npm init` writes for want of a test fails whatever is done, and would be taken for the work's fault. */
const hasTestScript = (manifest: string | null): boolean =>
  manifest !== null && /"test"\s*:/.test(manifest) && !/"test"\s*:\s*"echo [^\n]*no test specified/.test(manifest);
