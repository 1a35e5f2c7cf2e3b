import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Every layer, each with a file that others may import. */
export const LAYERS = [
  "stdx",
  "core",
  "core/schemas",
  "decide",
  "fold",
  "parse",
  "write",
  "views",
  "ports",
  "engine",
  "config",
  "app",
  "cli",
  "gates",
  "agents",
  "server",
  "testing",
  "adapters/process",
  "adapters/git",
  "adapters/files",
  "adapters/journal",
  "adapters/postgres",
  "adapters/telemetry",
] as const;

export interface Lint {
  readonly exit: number | null;
  /** The rules that fired, by file; the message where it came from no rule. */
  readonly fired: ReadonlyMap<string, readonly string[]>;
  readonly output: string;
}

/** A small project outside the repository, under the repository's own lint configuration. */
export interface PlantedProject {
  plant(path: string, text: string): void;
  lint(): Lint;
  tearDown(): void;
}

export function plantProject(): PlantedProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "remand-tidy-")));
  for (const path of [".oxlintrc.json", "tsconfig.json", "package.json", "scripts/lint"]) {
    cpSync(join(repository, path), join(root, path), { recursive: true });
  }
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  const plant = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const layer of LAYERS) plant(`src/${layer}/thing.ts`, "export type Thing = string;\n");
  plant("src/main.ts", "export type Thing = string;\n");
  plant("src/index.ts", 'export type { Thing } from "./core/thing.ts";\n');
  plant("web/src/thing.ts", "export type Thing = string;\n");
  plant("test/thing.ts", "export type Thing = string;\n");
  return { plant, lint: () => lint(root), tearDown: () => rmSync(root, { recursive: true, force: true }) };
}

function lint(root: string): Lint {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(repository, "node_modules/oxlint/bin/oxlint"), "--type-aware", "--format=json"],
    { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  const fired = new Map<string, string[]>();
  for (const { filename, code, message } of diagnosticsIn(stdout, stderr)) {
    fired.set(filename, [...(fired.get(filename) ?? []), code ?? message]);
  }
  return { exit: status, fired, output: stdout + stderr };
}

interface Diagnostic {
  readonly filename: string;
  /** A directive that silences nothing is reported without a rule. */
  readonly code?: string;
  readonly message: string;
}

function diagnosticsIn(stdout: string, stderr: string): readonly Diagnostic[] {
  try {
    return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
  } catch (error) {
    throw new Error(`the lint did not run:\n${stdout}\n${stderr}`, { cause: error });
  }
}
