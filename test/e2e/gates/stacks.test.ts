/** The shortened form of `npm run test:stacks`: what needs neither a network nor a tool of its own. */
import { expect, test } from "vitest";
import { expectStack, inHome } from "../../stacks/kit.ts";
import { STACKS } from "../../stacks/stacks.ts";

const HERE = ["code made in pretest", "docker compose by {checkout} (a stand-in for docker)"];

test.for(HERE)("%s: the check passes in a clean checkout, and fails for broken work", (name, { skip }) => {
  const stack = STACKS.find((each) => each.name === name);
  expect(stack).toBeDefined();
  inHome((home) => expectStack(stack!, home, skip));
});
