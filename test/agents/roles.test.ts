import { expect, test } from "vitest";
import { createRoleRegistry, type RoleAssignment } from "../../src/compose/agents/roles.ts";
import { roleName } from "../../src/core/events/ids.ts";

const casting = (name: string): RoleAssignment => ({
  agent: { name, run: () => Promise.reject(new Error("no agent runs in this test")) },
  model: null,
  reports: "signal",
  env: { KEY: name },
});

test("each role has its agent, with the text of its file", async () => {
  const developer = { ...casting("dev"), model: "large", reports: "exit" } as const;
  const roleRegistry = createRoleRegistry({
    agents: { developer, critic: casting("critic") },
    roleFiles: { developer: "You write code." },
  });
  expect(await roleRegistry.agentFor(roleName("developer"))).toEqual({ ...developer, prompt: "You write code." });
  expect(await roleRegistry.agentFor(roleName("critic"))).toMatchObject({ agent: { name: "critic" }, prompt: "" });
});

test("a role without an agent has none, or the fallback with the text of the role's own file", async () => {
  const roles = { agents: { developer: casting("dev") }, roleFiles: { security: "You look for holes." } };
  expect(await createRoleRegistry(roles).agentFor(roleName("security"))).toBeNull();
  const roleRegistry = createRoleRegistry({ ...roles, fallbackAgent: casting("anyone") });
  expect(await roleRegistry.agentFor(roleName("security"))).toMatchObject({
    agent: { name: "anyone" },
    prompt: "You look for holes.",
  });
});

test("a role may have any name", async () => {
  const roleRegistry = createRoleRegistry({ agents: {}, roleFiles: {} });
  for (const name of ["constructor", "__proto__", "toString"])
    expect(await roleRegistry.agentFor(roleName(name))).toBeNull();
});
