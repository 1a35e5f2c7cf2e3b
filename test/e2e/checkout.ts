import { onTestFinished } from "vitest";
import { makeRepository } from "../kit/git-repository.ts";

/** The root of a checkout with these files committed. It is gone when the test that asked for it is over. */
export function checkoutOf(files: Readonly<Record<string, string>>): string {
  const repository = makeRepository(files);
  onTestFinished(() => repository.clear());
  return repository.root;
}
