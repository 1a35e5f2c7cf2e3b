import { expect, test } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { setLayer } from "../../src/config/layer.ts";

const resolved = (...texts: readonly string[]) => resolveConfig({ layers: [setLayer(texts).layer] });

test("reinforcement of a failing role becomes a rule, by default after two failures", () => {
  const { policy } = resolved("agents.developer.stronger.model=opus", "agents.tdd-pair={ use: claude, freshAfter: 3 }");
  expect(policy?.roles.reinforcement).toEqual([
    { role: "developer", stronger: { model: "opus", after: 2 } },
    { role: "tdd-pair", freshAfter: 3 },
  ]);
  expect(resolved("agents.developer.model=opus").policy?.roles).not.toHaveProperty("reinforcement");
});

test.each([
  ["agents.developer.stronger={ after: 2 }", "agents.developer.stronger.model"],
  ["agents.developer.stronger={ model: opus, after: 0 }", "agents.developer.stronger.after"],
  ["agents.developer.stronger=opus", "agents.developer.stronger"],
  ["agents.developer.freshAfter=0", "agents.developer.freshAfter"],
  ["agents.developer.freshSession=3", "freshSession"],
])("%s is refused with its path", (text, path) => {
  const { policy, problems } = resolved(text);
  expect(policy).toBeNull();
  expect(problems.map(({ message }) => message).join()).toContain(path);
});
