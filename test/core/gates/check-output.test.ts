import { expect, it } from "vitest";
import { withoutNoise } from "../../../src/core/gates/check-output.ts";

it("leaves out coverage tables, frames of packages and what npm adds, and keeps the rest", () => {
  const kept = ["TypeError: x is not a function", "    at load (/project/index.js:64:35)", "a | b | c", "npm test"];
  const noise = [
    "----------|---------|----------|---------|---------|-------",
    "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s",
    " index.js |   11.76 |        0 |       0 |    12.5 | 42-155",
    "    at Module._load (node:internal/modules/cjs/loader:1091:12)",
    "    at run (/project/node_modules/mocha/lib/cli/run.js:370:5)",
    'npm warn Unknown user config "nodedir".',
    "npm error code 1",
  ];
  expect(withoutNoise([...noise, ...kept, ...noise])).toEqual(kept);
});
