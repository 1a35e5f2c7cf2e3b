/** The core gets the current time as an argument; otherwise, replaying a journal could give another state. */
const noClock = {
  /** @param {any} context */
  create(context) {
    /** @param {any} node */
    const check = (node) => {
      const readsTheClock = node.type === "CallExpression" || node.arguments.length === 0;
      if (node.callee.type === "Identifier" && node.callee.name === "Date" && readsTheClock) {
        context.report({ node, message: "the core does not read the clock: take the time as an argument" });
      }
    };
    return { NewExpression: check, CallExpression: check };
  },
};

const DECLARATIONS = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "FunctionDeclaration",
  "TSDeclareFunction",
  "ClassDeclaration",
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
]);

/** Importing a file of the core has no side effects and keeps no state: it contains only declarations and constants. */
const noTopLevelEffect = {
  /** @param {any} context */
  create(context) {
    return {
      /** @param {any} program */
      Program(program) {
        for (const node of program.body) {
          if (!isDeclaration(node)) {
            context.report({ node, message: "importing a file of the core may do nothing and keep no state" });
          }
        }
      },
    };
  },
};

/** @param {any} node @returns {boolean} */
function isDeclaration(node) {
  if (node.type === "ExportNamedDeclaration") return node.declaration == null || isDeclaration(node.declaration);
  if (node.type === "VariableDeclaration") return node.kind === "const";
  return DECLARATIONS.has(node.type);
}

export const purity = { noClock, noTopLevelEffect };
