import { partsFromRoot, layerOf } from "./layer-of.js";

/** Names that do not describe the content, so that anything could be put there. */
const EMPTY_NAMES = new Set([
  "util",
  "utils",
  "helper",
  "helpers",
  "common",
  "lib",
  "libs",
  "manager",
  "managers",
  "misc",
  "shared",
]);

export const names = {
  /** @param {any} context */
  create(context) {
    return {
      /** @param {any} node */
      Program(node) {
        const parts = partsFromRoot(context.filename).map((part) => part.replace(/\..*$/, ""));
        const empty = parts.find((part) => EMPTY_NAMES.has(part.toLowerCase()));
        if (empty !== undefined) context.report({ node, message: `"${empty}" does not say what is inside` });
        // An index in a folder is a barrel by another name: other folders must import its files by their own names.
        if (parts.at(-1) === "index" && layerOf(context.filename) !== "index.ts" && parts[0] === "src") {
          context.report({ node, message: "only the package entry may be called index" });
        }
      },
    };
  },
};
