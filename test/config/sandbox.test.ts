import { expect, test } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { ConfigLayer, Tree } from "../../src/config/layer.ts";

const layer = (name: ConfigLayer["name"], sandbox: Tree): ConfigLayer => {
  const place = { file: `${name}.yaml`, line: 1, column: 1 };
  return { name, value: { sandbox }, keyPlace: () => place, valuePlace: () => place };
};
const resolve = (...layers: ConfigLayer[]) => resolveConfig({ layers });

test("by default the best sandbox of the machine is used, and the network is shared", () => {
  expect(resolve().config?.sandbox).toEqual({ mode: "auto", network: "shared", docker: false, read: [], write: [] });
});

test("the mode alone is a valid setting", () => {
  expect(resolve(layer("user", "off")).config?.sandbox.mode).toBe("off");
});

test("a project may require a sandbox and disable the network", () => {
  const { config, problems } = resolve(
    layer("project", { mode: "required", network: "none" }),
    layer("user", { mode: "auto", write: ["~/.gemini"] }),
  );
  expect(problems).toEqual([]);
  expect(config?.sandbox).toMatchObject({ mode: "required", network: "none", write: ["~/.gemini"] });
});

test.each<Tree>([
  "off",
  { mode: "off" },
  { docker: true },
  { write: ["/"] },
  { read: ["/x"] },
  { use: "container", image: "x" },
])("a project cannot loosen it: %j", (sandbox) => {
  const { config, problems } = resolve(layer("project", sandbox), layer("user", "auto"));
  expect(config).toBeNull();
  expect(problems[0]).toMatchObject({ file: "project.yaml", severity: "error" });
  expect(problems[0]?.message).toContain("a project cannot loosen the sandbox");
  expect(problems[0]?.hint).toContain("~/.config/remand/config.yaml");
});

test("a project cannot loosen the user's stricter settings", () => {
  const { config } = resolve(
    layer("project", { mode: "auto", network: "shared" }),
    layer("user", { mode: "required", network: "none" }),
  );
  expect(config?.sandbox).toMatchObject({ mode: "required", network: "none" });
});

test("flags win over both", () => {
  const { config } = resolve(layer("set", "off"), layer("project", "required"), layer("user", "required"));
  expect(config?.sandbox.mode).toBe("off");
});
