/**
 * Lint rules of this codebase that no existing rule can express. oxlint loads this file as a plugin; it is plain
 * JavaScript because the oldest supported Node cannot load TypeScript. `test/tidy.test.ts` plants a violation of each
 * rule and expects lint to fail.
 *
 * `no-restricted-imports` was tried for the borders and is not enough: it compares the text of a specifier instead of
 * the file that it leads to, and it does not check `import()`.
 */
import { borders } from "./borders.js";
import { names } from "./names.js";
import { purity } from "./purity.js";
import { words } from "./words.js";

export default {
  meta: { name: "remand" },
  rules: {
    borders: borders.imports,
    "types-only": borders.typesOnly,
    "no-barrel": borders.noBarrel,
    names,
    words,
    "no-clock": purity.noClock,
    "no-top-level-effect": purity.noTopLevelEffect,
  },
};
