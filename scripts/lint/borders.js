import { isBuiltin } from "node:module";
import { resolved, roomOf } from "./place.js";
import { isComposition, PACKAGE_ENTRIES, rowOf, SPAWNING_MODULES, SPAWNING_ROOM, TYPE_ROOMS } from "./table.js";

/** Every import of every form leads to a room, a library or a Node module that the importer's row names. */
const imports = {
  /** @param {any} context */
  create(context) {
    const room = roomOf(context.filename);
    if (room === null) return {};
    /** @param {any} node @param {any} source */
    const check = (node, source) => {
      const complaint = complaintAbout(context.filename, room, source);
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

/** @param {string} file @param {string} room @param {any} source @returns {string | null} */
function complaintAbout(file, room, source) {
  const specifier = source?.literal?.value ?? source?.value;
  if (typeof specifier !== "string")
    return "an import must name its module in plain text, or its border cannot be checked";
  if (isBuiltin(specifier)) return complaintAboutNode(room, specifier);
  if (isComposition(room)) return null;
  const row = rowOf(room);
  if (row === undefined) return `src/${room} has no row in scripts/lint/table.js, so it may import nothing`;
  if (!specifier.startsWith(".")) {
    return row.libraries.includes(libraryOf(specifier))
      ? null
      : `${room} may not import the library ${libraryOf(specifier)}`;
  }
  const target = roomOf(resolved(file, specifier));
  if (target === room || (target !== null && row.rooms.includes(target))) return null;
  return `${room} may not import ${target ?? "a file outside src"} (it may import: ${row.rooms.join(", ") || "nothing"})`;
}

/** @param {string} room @param {string} specifier @returns {string | null} */
function complaintAboutNode(room, specifier) {
  const name = specifier.replace(/^node:/, "");
  if (SPAWNING_MODULES.includes(name) && room !== SPAWNING_ROOM) return `only ${SPAWNING_ROOM} may import ${specifier}`;
  if (isComposition(room) || rowOf(room)?.node === true) return null;
  return `${room} may not import Node's ${specifier}`;
}

/** @param {string} specifier */
function libraryOf(specifier) {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** A port is a promise, not code: its file holds interfaces, type aliases and imports of types. */
const typesOnly = {
  /** @param {any} context */
  create(context) {
    if (!TYPE_ROOMS.includes(roomOf(context.filename) ?? "")) return {};
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

/** A name has one home: only a package entry hands on what another file exports. */
const noBarrel = {
  /** @param {any} context */
  create(context) {
    const room = roomOf(context.filename);
    if (room === null || PACKAGE_ENTRIES.includes(room)) return {};
    /** @param {any} node */
    const complain = (node) => {
      if (node.source)
        context.report({ node, message: `only ${PACKAGE_ENTRIES.join(" and ")} may export from another file` });
    };
    return { ExportAllDeclaration: complain, ExportNamedDeclaration: complain };
  },
};

export const borders = { imports, typesOnly, noBarrel };
