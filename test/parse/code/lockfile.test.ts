import { expect, test } from "vitest";
import { installationsFor, LOCKFILES } from "../../../src/parse/code/manifests.ts";

const commandsFor = (files: Record<string, string>): readonly string[] =>
  installationsFor(new Map(Object.entries(files))).map(({ command }) => command);

test.each([
  ["package-lock.json", "", "npm ci"],
  ["npm-shrinkwrap.json", "", "npm ci"],
  ["pnpm-lock.yaml", "", "pnpm install --frozen-lockfile"],
  ["yarn.lock", "# yarn lockfile v1\n", "yarn install --frozen-lockfile"],
  ["yarn.lock", "# generated\n\n__metadata:\n  version: 8\n", "yarn install --immutable"],
  ["bun.lock", "", "bun install --frozen-lockfile"],
  ["uv.lock", "", "uv sync --frozen"],
  ["poetry.lock", "", "poetry install --no-interaction"],
])("%s (%j) is installed by %s", (file, text, command) => {
  expect(commandsFor({ [file]: text })).toEqual([command]);
  expect(LOCKFILES).toContain(file);
});

test("one installation for each language, the rarer tool first; what builds fetch is not installed", () => {
  const both = { "package-lock.json": "", "pnpm-lock.yaml": "", "poetry.lock": "", "Cargo.lock": "", "go.sum": "" };
  expect(commandsFor(both)).toEqual(["pnpm install --frozen-lockfile", "poetry install --no-interaction"]);
  expect(commandsFor({ "Cargo.lock": "", "go.sum": "" })).toEqual([]);
});
