import { nodeTools, pythonTools, type ProjectReader, type ProjectTools } from "./project-tools.ts";

/** The tools that were detected, each with the folder it was found in. */
export interface DetectedProject {
  readonly tools: readonly (ProjectTools & { readonly folder: string })[];
  /** The commands that check a change, tests first. */
  readonly commands: readonly string[];
}

/** Detects the tools in the folder; if there are none, in the folders one level below. */
export async function detectProject(at: ProjectReader): Promise<DetectedProject> {
  const here = await toolsIn(at);
  const found = here === null ? await toolsBelow(at) : [{ ...here, folder: "." }];
  const commands = found.flatMap(({ folder, test, lint, types }) =>
    [test, lint, types]
      .filter((command) => command !== null)
      .map((command) => (folder === "." ? command : `cd ${folder} && ${command}`)),
  );
  return { tools: found, commands };
}

async function toolsBelow(at: ProjectReader): Promise<DetectedProject["tools"]> {
  const found: (ProjectTools & { readonly folder: string })[] = [];
  for (const folder of await at.entries()) {
    if (!/^\w[\w-]*$/.test(folder) || /^(?:node_modules|vendor|dist|build|target|docs|examples?)$/.test(folder))
      continue;
    const tools = await toolsIn(at.inside(folder));
    if (tools !== null && tools.test !== null) found.push({ ...tools, folder });
  }
  return found;
}

/** The first stack with tests. A manifest that is there for another reason (a linter, a website) must not hide it. */
async function toolsIn(at: ProjectReader): Promise<ProjectTools | null> {
  let other: ProjectTools | null = null;
  for (const read of [nodeTools, plainTools, pythonTools, makeTools]) {
    const tools = await read(at);
    if (tools !== null && tools.test !== null) return tools;
    other ??= tools;
  }
  return other;
}

/** Stacks that are recognized by a single file, with the command that runs their tests. */
const PLAIN: readonly { readonly files: readonly string[]; readonly stack: string; readonly test: string }[] = [
  { files: ["Cargo.toml"], stack: "Rust", test: "cargo test" },
  { files: ["go.mod"], stack: "Go", test: "go test ./..." },
  { files: ["deno.json", "deno.jsonc"], stack: "Deno", test: "deno test" },
  { files: ["pom.xml"], stack: "Maven", test: "mvn test" },
  { files: ["build.gradle", "build.gradle.kts"], stack: "Gradle", test: "gradle test" },
  { files: ["mix.exs"], stack: "Elixir", test: "mix test" },
  { files: ["Package.swift"], stack: "Swift", test: "swift test" },
  { files: ["pubspec.yaml"], stack: "Dart", test: "dart test" },
  { files: [".rspec"], stack: "Ruby", test: "bundle exec rspec" },
  { files: ["phpunit.xml", "phpunit.xml.dist"], stack: "PHP", test: "vendor/bin/phpunit" },
];
const WRAPPERS: Readonly<Record<string, string>> = { Maven: "mvnw", Gradle: "gradlew" };

async function plainTools(at: ProjectReader): Promise<ProjectTools | null> {
  for (const { files, stack, test } of PLAIN) {
    const file = await at.first(...files);
    if (file === null) continue;
    const wrapper = WRAPPERS[stack];
    const command = wrapper !== undefined && (await at.has(wrapper)) ? test.replace(/^\S+/, `./${wrapper}`) : test;
    const packages = /^\s*\[workspace\]/m.test((await at.text(file)) ?? "") ? "the workspace of Cargo.toml" : null;
    const lint =
      stack === "Go" && (await at.has(".golangci.yml", ".golangci.yaml")) && (await at.isOnPath("golangci-lint"))
        ? "golangci-lint run"
        : null;
    const all = packages === null ? command : `${command} --workspace`;
    return { stack: `${stack} (${file})`, packages, test: all, lint, types: null };
  }
  return goWorkspace(at);
}

/** Detects a Go workspace: `go test ./...` leaves out the modules that go.work lists. */
async function goWorkspace(at: ProjectReader): Promise<ProjectTools | null> {
  const text = await at.text("go.work");
  if (text === null) return null;
  const used = [...text.matchAll(/^\s*(?:use\s+)?(\.{1,2}\/\S+|\.)\s*$/gm)].map(([, folder]) => folder!);
  if (used.length === 0) return null;
  const test = `go test ${used.map((folder) => `${folder.replace(/\/$/, "")}/...`).join(" ")}`;
  return { stack: "Go (go.work)", packages: used.join(", "), test, lint: null, types: null };
}

/** A makefile or justfile with a rule for the tests. */
async function makeTools(at: ProjectReader): Promise<ProjectTools | null> {
  for (const [program, ...names] of [
    ["make", "GNUmakefile", "makefile", "Makefile"],
    ["just", "justfile", "Justfile"],
  ] as const)
    for (const name of names) {
      const rules = (await at.text(name)) ?? "";
      const target = ["test", "check"].find((each) => new RegExp(`^${each}\\s*:(?!=)`, "m").test(rules));
      if (target !== undefined)
        return { stack: `${program} (${name})`, packages: null, test: `${program} ${target}`, lint: null, types: null };
    }
  return null;
}
