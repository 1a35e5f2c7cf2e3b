import { layerOf } from "./layer-of.js";

/**
 * Words that are not used here, each with its replacement. Applies to comments, strings and documents; a test checks
 * the documents with the same function (`test/words.test.ts`).
 *
 * @type {readonly (readonly [RegExp, string])[]}
 */
const REPLACED = [
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\banew\b/i, "again"],
  [/\bsurroundings\b/i, "environment or infrastructure"],
  [/\bwhims?\b/i, "flaky tests"],
  [/\bdoorbells?\b/i, "notifications"],
  [/\bof nobody\b/i, "unowned"],
  [/\bstands? in the way\b/i, "blocking"],
  [/(?:behavi|col|neighb|fav|hon)our|\bcatalogue/i, "the American spelling"],
  [/\b(?:its|their) turn comes?\b/i, "queued"],
];

const PRONOUN = /\bwhoever\b|\b(?:some|any|no|every)body\b|\b(?:some|any|every)one\b/i;

/** @param {string} text @returns {string | null} */
export function replacedWord(text) {
  for (const [pattern, better] of REPLACED) {
    const found = pattern.exec(text);
    if (found !== null) return `"${found[0]}": write "${better}"`;
  }
  return null;
}

/** @param {string} text @returns {string | null} */
export function pronoun(text) {
  const found = PRONOUN.exec(text);
  return found === null ? null : `"${found[0]}" does not say who or what: name it`;
}

/** Participles of irregular verbs; all others end in "ed". */
const IRREGULAR = new Set(
  "told said heard kept made given taken known shown drawn found left held sent gone done seen met written grown begun bound led laid lent lost meant paid put sought spent spoken stood struck thought understood woken worn bought brought built caught chosen felt fed broken borne hidden".split(
    " ",
  ),
);
/** Words ending in "ed" that are verbs or nouns. */
const NO_PARTICIPLES = new Set([
  "embed",
  "exceed",
  "feed",
  "heed",
  "need",
  "proceed",
  "seed",
  "speed",
  "succeed",
  "bed",
]);

/** @param {string} name */
export function isLoneParticiple(name) {
  return (/^[a-z]+ed$/.test(name) && !NO_PARTICIPLES.has(name)) || IRREGULAR.has(name);
}

const isFunction = (/** @type {any} */ node) =>
  node?.type === "ArrowFunctionExpression" || node?.type === "FunctionExpression";

/** @param {any} declaration @returns {readonly any[]} */
function exportedFunctions(declaration) {
  if (declaration?.type === "FunctionDeclaration") return [declaration.id];
  if (declaration?.type !== "VariableDeclaration") return [];
  return declaration.declarations
    .filter((/** @type {any} */ each) => isFunction(each.init))
    .map((/** @type {any} */ each) => each.id);
}

export const words = {
  /** @param {any} context */
  create(context) {
    const isSource = layerOf(context.filename) !== null;
    /** @param {any} node @param {string} text */
    const checkString = (node, text) => {
      const problem = replacedWord(text) ?? (isSource ? pronoun(text) : null);
      if (problem !== null) context.report({ node, message: problem });
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const problem = replacedWord(comment.value) ?? pronoun(comment.value);
          if (problem !== null) context.report({ loc: comment.loc, message: problem });
        }
      },
      /** @param {any} node */
      Literal: (node) => typeof node.value === "string" && checkString(node, node.value),
      /** @param {any} node */
      TemplateElement: (node) => checkString(node, node.value.raw),
      /** @param {any} node */
      JSXText: (node) => checkString(node, node.value),
      /** @param {any} node */
      ExportNamedDeclaration(node) {
        for (const id of exportedFunctions(node.declaration)) {
          if (isLoneParticiple(id.name))
            context.report({
              node: id,
              message: `"${id.name}" is a participle: name a function by a verb and an object`,
            });
        }
      },
    };
  },
};
