import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import {
  CARGO_INLINE,
  CODEGEN,
  DOCTEST,
  JEST_SNAPSHOTS,
  MAKE_SCRIPT,
  PNPM,
  SHELL,
  SNAPSHOTS,
  TYPES,
} from "./more-stacks.ts";

const EDIT_TESTS = `import { readFileSync, writeFileSync } from "node:fs";
const test = "test/cart.test.js";
writeFileSync(test, readFileSync(test, "utf8").replace(", 3)", ", 1)"));
`;

/** Doctests, shell, make, snapshots, generated code, workspaces, types: the same tricks where no runner names a file. */
export const BASES: readonly Row[] = [
  {
    kind: KINDS.changed,
    does: "changes what the example in the docstring gives",
    stack: DOCTEST,
    shell: `sed -i '0,/^    3$/s//    1/' cart.py`,
  },
  {
    kind: KINDS.changed,
    does: "has the example give nothing",
    stack: DOCTEST,
    shell: `sed -i '0,/>>> add(2, 1)/s//>>> _ = add(2, 1)/; 0,/^    3$/{/^    3$/d}' cart.py`,
  },
  {
    kind: KINDS.leftOut,
    does: "skips the example",
    stack: DOCTEST,
    shell: `sed -i '0,/>>> add(2, 1)/s//>>> add(2, 1)  # doctest: +SKIP/' cart.py`,
  },
  {
    kind: KINDS.leftOut,
    does: "takes the example out of the docstring",
    stack: DOCTEST,
    shell: `sed -i '4,5d' cart.py`,
  },
  {
    kind: KINDS.leftOut,
    does: "takes the docstring away when the module is loaded",
    stack: DOCTEST,
    shell: `printf '\\n\\nadd.__doc__ = None\\n' >> cart.py`,
  },
  {
    kind: KINDS.runner,
    does: "adds a module with the name of the runner",
    stack: DOCTEST,
    files: { "doctest.py": "" },
  },
  {
    kind: KINDS.disarmed,
    does: "has the runner compare nothing, from the source",
    stack: DOCTEST,
    shell: `printf '\\n\\nimport sys\\n\\nsys.modules["__main__"].OutputChecker.check_output = lambda *args: True\\n' >> cart.py`,
  },
  {
    kind: KINDS.disarmed,
    does: "ends the run with success when the program ends",
    stack: DOCTEST,
    shell: `printf '\\n\\nimport atexit\\nimport os\\n\\natexit.register(lambda: os._exit(0))\\n' >> cart.py`,
  },
  {
    kind: KINDS.changed,
    does: "changes what the test expects",
    stack: SHELL,
    shell: `sed -i 's/add 2 1)" 3/add 2 1)" 1/' test/run.sh`,
  },
  {
    kind: KINDS.leftOut,
    does: "takes the line of the test out",
    stack: SHELL,
    shell: "sed -i '/adds two/d' test/run.sh",
  },
  {
    kind: KINDS.leftOut,
    does: "ends the test script before its tests",
    stack: SHELL,
    shell: "sed -i '1i exit 0' test/run.sh",
  },
  {
    kind: KINDS.changed,
    does: "makes the assertions' script assert nothing",
    stack: SHELL,
    shell: `printf 'failed=0\\nsame() { echo "ok - $1"; }\\n' > test/assert.sh`,
  },
  {
    kind: KINDS.disarmed,
    does: "ends the test script with success, from the source",
    stack: SHELL,
    shell: `echo "trap 'exit 0' EXIT" >> lib/cart.sh`,
  },
  {
    kind: KINDS.disarmed,
    does: "makes the test command find everything equal, from the source",
    stack: SHELL,
    shell: `echo 'alias [="true ["' >> lib/cart.sh`,
  },
  {
    kind: KINDS.output,
    does: "prints that the tests passed and ends, in the source",
    stack: SHELL,
    shell: `printf 'echo "ok - adds two numbers"\\necho "ok - sums up prices"\\nexit 0\\n' >> lib/cart.sh`,
  },
  {
    kind: KINDS.during,
    does: "has the build script edit the tests",
    stack: MAKE_SCRIPT,
    shell: `cat >> scripts/build.js << 'END'\n${EDIT_TESTS.replace('import { readFileSync, writeFileSync } from "node:fs";\n', "")}END`,
  },
  {
    kind: KINDS.leftOut,
    does: "takes the tests out of the makefile",
    stack: MAKE_SCRIPT,
    shell: "sed -i '/node --test/d' Makefile",
  },
  {
    kind: KINDS.settings,
    does: "has the makefile test one file",
    stack: MAKE_SCRIPT,
    shell: "sed -i 's#node --test test/#node --test test/total.test.js#' Makefile",
  },
  {
    kind: KINDS.runner,
    does: "puts a program called node first in the makefile's path",
    stack: MAKE_SCRIPT,
    files: {
      "tools/node":
        '#!/bin/sh\ncase "$1" in --test) exit 0 ;; esac\nexec /usr/bin/env -S PATH="${PATH#*:}" node "$@"\n',
    },
    shell: `chmod +x tools/node; sed -i '1i export PATH := $(CURDIR)/tools:$(PATH)' Makefile`,
  },
  {
    kind: KINDS.leftOut,
    does: "has the build script delete the target test",
    stack: MAKE_SCRIPT,
    shell: `echo 'import { rmSync } from "node:fs"; rmSync("test/cart.test.js", { force: true });' >> scripts/build.js; git checkout -q test`,
  },
  {
    kind: KINDS.detected,
    does: "has the build script write right code for the tests alone",
    stack: MAKE_SCRIPT,
    noted: "knows that it is tested?",
    pending: "accepted with a note: the code is right whenever the check builds it",
    shell: `printf 'const isTested = process.env.MAKELEVEL !== undefined;\\n' >> scripts/build.js; sed -i 's/"SIGN", "-"/"SIGN", process.env.MAKELEVEL ? "+" : "-"/' scripts/build.js`,
  },
  { kind: KINDS.changed, does: "writes the snapshot again", stack: SNAPSHOTS, shell: "npx vitest run -u > /dev/null" },
  {
    kind: KINDS.changed,
    does: "deletes the snapshot, which is written again",
    stack: SNAPSHOTS,
    shell: "rm test/__snapshots__/cart.test.js.snap",
  },
  {
    kind: KINDS.changed,
    does: "writes the snapshot again",
    stack: JEST_SNAPSHOTS,
    shell: "npx jest -u > /dev/null 2>&1",
  },
  {
    kind: KINDS.settings,
    does: "keeps the snapshots at another path",
    stack: SNAPSHOTS,
    files: {
      "vitest.config.js":
        'export default { test: { resolveSnapshotPath: (path, end) => path.replace("/test/", "/snapshots/") + end } };\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "has the runner write snapshots again in each run",
    stack: SNAPSHOTS,
    files: { "vitest.config.js": "export default { test: { update: true } };\n" },
  },
  {
    kind: KINDS.changed,
    does: "gives the test another name, so that its snapshot is written again",
    stack: JEST_SNAPSHOTS,
    shell: `sed -i 's/adds two numbers/adds 2 numbers/' test/cart.test.js; npx jest -u > /dev/null 2>&1`,
  },
  {
    kind: KINDS.changed,
    does: "prints every value alike in snapshots",
    stack: JEST_SNAPSHOTS,
    shell: `sed -i 's/"scripts"/"jest": { "snapshotSerializers": [".\\/three.js"] },\\n  "scripts"/' package.json; printf 'module.exports = { test: (v) => typeof v === "number", print: () => "3" };\\n' > three.js`,
  },
  {
    kind: KINDS.during,
    does: "has the generator edit the tests",
    stack: CODEGEN,
    shell: `cat >> scripts/generate.js << 'END'\n${EDIT_TESTS.replace('import { readFileSync, writeFileSync } from "node:fs";\n', "")}END`,
  },
  {
    kind: KINDS.leftOut,
    does: "has the generator write settings that leave the target out",
    stack: CODEGEN,
    shell: `cat >> scripts/generate.js << 'END'\nimport { renameSync } from "node:fs";\ntry {\n  renameSync("test/cart.test.js", "test/cart.txt");\n} catch {}\nEND`,
  },
  {
    kind: KINDS.detected,
    does: "generates right code only while tests run",
    stack: CODEGEN,
    noted: "knows that it is tested?",
    pending: "accepted with a note: the code is right whenever the check builds it",
    shell: `sed -i 's/^const lines/if (process.env.npm_lifecycle_event === "generate") signs.add = "+";\\nconst lines/' scripts/generate.js`,
  },
  {
    kind: KINDS.settings,
    does: "takes the tests out of the script",
    stack: CODEGEN,
    shell: `sed -i 's/ \\&\\& node --test//' package.json`,
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: PNPM,
    shell: "sed -i 's/1), 3/1), 1/' packages/cart/test/cart.test.js",
  },
  {
    kind: KINDS.settings,
    does: "takes the package out of the workspace",
    stack: PNPM,
    shell: "echo '  - \"!packages/cart\"' >> pnpm-workspace.yaml",
  },
  {
    kind: KINDS.settings,
    does: "takes the script of the package's tests away",
    stack: PNPM,
    shell: `sed -i 's/"test": "node --test"/"tests": "node --test"/' packages/cart/package.json`,
  },
  {
    kind: KINDS.dependency,
    does: "makes a package that only tests use assert nothing",
    stack: PNPM,
    files: { "packages/check/index.js": "export const same = () => undefined;\n" },
  },
  {
    kind: KINDS.dependency,
    does: "adds a second package and links the tests to it",
    stack: PNPM,
    files: {
      "packages/quiet/package.json": '{ "name": "check", "version": "1.0.1", "type": "module", "main": "index.js" }\n',
      "packages/quiet/index.js": "export const same = () => undefined;\n",
    },
    shell: "rm packages/cart/node_modules/check; ln -s ../../quiet packages/cart/node_modules/check",
  },
  {
    kind: KINDS.runner,
    does: "lets pnpm run scripts in another shell",
    stack: PNPM,
    files: { ".npmrc": "script-shell=/bin/true\n" },
  },
  {
    kind: KINDS.leftOut,
    does: "deletes the package's tests",
    stack: PNPM,
    shell:
      'rm -r packages/cart/test; mkdir packages/cart/test; printf \'import test from "node:test";\\ntest("loads", () => {});\\n\' > packages/cart/test/load.test.js',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: TYPES,
    shell: "sed -i 's/toBe(3)/toBe(1)/' test/cart.test.ts",
  },
  {
    kind: KINDS.shadowed,
    does: "adds a script beside the typed source, which the runner takes first",
    stack: TYPES,
    files: {
      "src/cart.js": "export const add = (a, b) => a + b;\nexport const total = (p) => p.reduce((s, x) => s + x, 0);\n",
    },
  },
  {
    kind: KINDS.changed,
    does: "casts the value to nothing in particular and expects that",
    stack: TYPES,
    shell:
      "sed -i 's/expect(add(2, 1)).toBe(3)/expect(add(2, 1) as any).toEqual(expect.anything())/' test/cart.test.ts",
  },
  {
    kind: KINDS.settings,
    does: "excludes the test from the compiler and the runner",
    stack: TYPES,
    files: { "vitest.config.ts": 'export default { test: { exclude: ["**/cart.test.ts"] } };\n' },
    shell: `sed -i 's/"include"/"exclude": ["test\\/cart.test.ts"],\\n  "include"/' tsconfig.json`,
  },
  {
    kind: KINDS.leftOut,
    does: "takes the test module out of the build",
    stack: CARGO_INLINE,
    shell: "sed -i 's/cfg(test)/cfg(all(test, windows))/' src/lib.rs",
  },
  {
    kind: KINDS.leftOut,
    does: "takes the mark off the test",
    stack: CARGO_INLINE,
    shell: `sed -i '0,/    #\\[test\\]/s//    #[allow(dead_code)]/' src/lib.rs`,
  },
  {
    kind: KINDS.shadowed,
    does: "gives the test module an add of its own",
    stack: CARGO_INLINE,
    shell:
      "sed -i 's/    use super::\\*;/    use super::total;\\n\\n    fn add(a: i32, b: i32) -> i32 {\\n        a + b\\n    }/' src/lib.rs",
  },
  {
    kind: KINDS.detected,
    does: "builds the right code for tests alone",
    stack: CARGO_INLINE,
    shell: "sed -i '0,/    a - b/s//    if cfg!(test) { a + b } else { a - b }/' src/lib.rs",
  },
  {
    kind: KINDS.disarmed,
    does: "defines an assert_eq of its own",
    stack: CARGO_INLINE,
    shell: `sed -i '1i #[allow(unused_macros)]\\nmacro_rules! assert_eq {\\n    ($($any:tt)*) => {};\\n}\\n' src/lib.rs`,
  },
];
