import { isBuiltin } from "node:module";
import { resolvePath, layerOf } from "./layer-of.js";
import { isComposition, PACKAGE_ENTRIES, rowOf, SPAWNING_MODULES, SPAWNING_LAYER, TYPE_LAYERS } from "./table.js";

/** Every import, in any form, must lead to a layer, a library or a Node module in the importer's row. */
const imports = {
  /** @param {any} context */
  create(context) {
    const layer = layerOf(context.filename);
    if (layer === null) return {};
    /** @param {any} node @param {any} source */
    const check = (node, source) => {
      const isType = node.importKind === "type" || node.exportKind === "type" || node.type === "TSImportType";
      const complaint = complaintAbout(context.filename, layer, source, isType);
      if (complaint !== null) context.report({ node, message: complaint });
    };
    return {
      /** @param {any} node */
      ImportDeclaration: (node) => check(node, node.source),
      /** @param {any} node */
      ImportExpression: (node) => check(node, node.source),
      /** @param {any} node */
      TSImportType: (node) => check(node, node.source ?? node.argument),
      /** @param {any} node */
      ExportAllDeclaration: (node) => check(node, node.source),
      /** @param {any} node */
      ExportNamedDeclaration: (node) => node.source && check(node, node.source),
    };
  },
};

/** @param {string} file @param {string} layer @param {any} source @param {boolean} isType @returns {string | null} */
function complaintAbout(file, layer, source, isType) {
  const specifier = source?.literal?.value ?? source?.value;
  if (typeof specifier !== "string")
    return "an import must name its module in plain text, or its border cannot be checked";
  if (isBuiltin(specifier)) return complaintAboutNode(layer, specifier);
  if (isComposition(layer)) return null;
  const row = rowOf(layer);
  if (row === undefined) return `src/${layer} has no row in scripts/lint/table.js, so it may import nothing`;
  if (!specifier.startsWith(".")) {
    return row.libraries.includes(libraryOf(specifier))
      ? null
      : `${layer} may not import the library ${libraryOf(specifier)}`;
  }
  const target = layerOf(resolvePath(file, specifier));
  if (target === layer || (target !== null && row.layers.includes(target))) return null;
  const isOpenToTypes = target !== null && row.types?.includes(target) === true;
  if (isOpenToTypes) return isType ? null : `${layer} may import only types from ${target}: write \`import type\``;
  return `${layer} may not import ${target ?? "a file outside src"} (it may import: ${row.layers.join(", ") || "nothing"})`;
}

/** @param {string} layer @param {string} specifier @returns {string | null} */
function complaintAboutNode(layer, specifier) {
  const name = specifier.replace(/^node:/, "");
  if (SPAWNING_MODULES.includes(name) && layer !== SPAWNING_LAYER)
    return `only ${SPAWNING_LAYER} may import ${specifier}`;
  const open = isComposition(layer) || rowOf(layer)?.node;
  if (open === true || (Array.isArray(open) && open.includes(name))) return null;
  return `${layer} may not import Node's ${specifier}`;
}

/** @param {string} specifier */
function libraryOf(specifier) {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** A port contains no code: its file has only interfaces, type aliases and imports of types. */
const typesOnly = {
  /** @param {any} context */
  create(context) {
    if (!TYPE_LAYERS.includes(layerOf(context.filename) ?? "")) return {};
    return {
      /** @param {any} program */
      Program(program) {
        for (const node of program.body) {
          if (!isTypeOnly(node)) context.report({ node, message: "a port holds types only" });
        }
      },
    };
  },
};

/** @param {any} node @returns {boolean} */
function isTypeOnly(node) {
  switch (node.type) {
    case "ImportDeclaration":
      return node.importKind === "type";
    case "ExportNamedDeclaration":
      return node.exportKind === "type";
    default:
      return node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration";
  }
}

/** Every name is exported by one file: only a package entry may export names of other files. */
const noBarrel = {
  /** @param {any} context */
  create(context) {
    const layer = layerOf(context.filename);
    if (layer === null || PACKAGE_ENTRIES.includes(layer)) return {};
    /** @param {any} node */
    const complain = (node) => {
      if (node.source)
        context.report({ node, message: `only ${PACKAGE_ENTRIES.join(" and ")} may export from another file` });
    };
    return { ExportAllDeclaration: complain, ExportNamedDeclaration: complain };
  },
};

export const borders = { imports, typesOnly, noBarrel };
