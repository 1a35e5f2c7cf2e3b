/** Finds the file of a Rust test: Cargo reports the crate's first file and the test's module. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** `run` starts Cargo with other arguments. */
export async function cargoFiles(heads, run) {
  const { targets, root } = targetsIn(
    (await run(["metadata", "--no-deps", "--offline", "--format-version", "1"])).stdout,
  );
  const programs = heads.filter((head) => !head.isDoc);
  const plain = (name) => name.replaceAll("-", "_");
  return (at, test) => {
    const doc = /^(\S+\.\w+) - /.exec(test);
    const head = doc === null ? programs[at] : heads.find((each) => each.isDoc);
    const crate = head?.crate ?? null;
    // Rustdoc names files relative to the workspace's folder or to the package's.
    if (doc !== null)
      return {
        crate,
        file:
          [root, dirname(dirname(sourceOf(crate)?.source ?? ""))]
            .map((folder) => join(folder, doc[1]))
            .find(existsSync) ?? doc[1],
      };
    const target =
      head && targets.find(({ name, source }) => plain(name) === plain(head.crate) && source.endsWith(`/${head.path}`));
    return { crate, file: target === undefined ? (head?.path ?? null) : moduleFile(target.source, test) };
  };

  function sourceOf(crate) {
    return targets.find(({ name }) => crate !== null && plain(name) === plain(crate));
  }
}

function targetsIn(text) {
  try {
    const { packages, workspace_root: root } = JSON.parse(text);
    return {
      root,
      targets: packages.flatMap((each) => each.targets.map(({ name, src_path: source }) => ({ name, source }))),
    };
  } catch {
    // Without the metadata, tests only have their crate's first file.
    return { root: process.cwd(), targets: [] };
  }
}

/** `cart::tests::adds` of `src/lib.rs` is in `src/cart.rs`, in `src/cart/mod.rs`, or in `src/lib.rs` itself. */
function moduleFile(source, test) {
  const isRoot = /^(?:lib|main|mod)\.rs$/.test(basename(source)) || basename(dirname(source)) === "tests";
  let folder = isRoot ? dirname(source) : source.replace(/\.rs$/, "");
  let file = source;
  for (const part of test.split("::").slice(0, -1)) {
    const found = [join(folder, `${part}.rs`), join(folder, part, "mod.rs")].find(existsSync);
    if (found === undefined) break;
    file = found;
    folder = join(folder, part);
  }
  return file;
}
