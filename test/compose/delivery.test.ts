import { describe, expect, test } from "vitest";
import { repositoryIn } from "../../src/compose/delivery.ts";

describe("the repository in a remote's address", () => {
  test.each([
    ["git@github.com:acme/shop.git", "acme/shop"],
    ["git@github.com:acme/shop", "acme/shop"],
    ["ssh://git@github.com:22/acme/shop.git", "acme/shop"],
    ["https://github.com/acme/shop", "acme/shop"],
    ["https://github.com/acme/shop.js.git/", "acme/shop.js"],
    ["https://ada:secret@github.example.com/acme/shop.git", "acme/shop"],
    ["/srv/git/acme/shop.git", "acme/shop"],
  ])("%s", (address, repository) => expect(repositoryIn(address)).toBe(repository));

  test.each([
    null,
    "",
    "https://github.com/shop",
    "https://github.com/",
    "../shop.git",
    "shop.git",
    "git@github.com:shop",
  ])("none in %s", (address) => expect(repositoryIn(address)).toBeNull());
});
