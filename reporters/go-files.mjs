/** Finds the file of a Go test: Go reports only the package. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export function goFiles(cwd) {
  const modules = modulesAt(cwd);
  const declared = new Map();
  return (name, test) => {
    if (!declared.has(name)) declared.set(name, testsIn(folderOf(modules, name)));
    return declared.get(name).get(test.split("/")[0]) ?? null;
  };
}

/** The modules of the workspace, or the module around the folder: their paths and folders. */
function modulesAt(cwd) {
  const work = above(cwd, "go.work");
  const folders = work === null ? [] : usedIn(work);
  const own = above(cwd, "go.mod");
  return [...(own === null ? [] : [own]), ...folders.map((folder) => join(folder, "go.mod"))].flatMap((file) => {
    const name = existsSync(file) ? /^module\s+"?([^\s"]+)/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
    return name === undefined ? [] : [{ name, folder: dirname(file) }];
  });
}

function above(folder, name) {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  return dirname(folder) === folder ? null : above(dirname(folder), name);
}

function usedIn(work) {
  const text = readFileSync(work, "utf8");
  const block = /^use\s*\(([^)]*)\)/m.exec(text)?.[1] ?? "";
  const single = [...text.matchAll(/^use\s+([^\s(]+)/gm)].map((match) => match[1]);
  return [...block.split("\n").map((line) => line.trim()), ...single]
    .filter((path) => path !== "" && !path.startsWith("//"))
    .map((path) => resolve(dirname(work), path));
}

function folderOf(modules, name) {
  const found = modules
    .filter((module) => name === module.name || name.startsWith(`${module.name}/`))
    .sort((a, b) => b.name.length - a.name.length)[0];
  return found === undefined ? null : join(found.folder, name.slice(found.name.length));
}

function testsIn(folder) {
  const tests = new Map();
  if (folder === null || !existsSync(folder)) return tests;
  for (const file of readdirSync(folder).filter((each) => each.endsWith("_test.go")))
    for (const [, test] of readFileSync(join(folder, file), "utf8").matchAll(/^func ((?:Test|Example|Fuzz)\w*)\(/gm))
      tests.set(test, join(folder, file));
  return tests;
}
