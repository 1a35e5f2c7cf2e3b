import { expect, test } from "vitest";
import { allowedEnvironment } from "../../../src/adapters/process/environment.ts";

const SOURCE = {
  PATH: "/bin",
  HOME: "/home/ada",
  LC_CTYPE: "C.UTF-8",
  XDG_CACHE_HOME: "/c",
  GITHUB_TOKEN: "secret",
  NPM_TOKEN: "secret",
  MY_DB: "postgres",
  MY_OTHER: "x",
  PATHOLOGY: "no",
  EMPTY: "",
  GONE: undefined,
};

test("the usual variables pass, all others do not", () => {
  expect(allowedEnvironment(SOURCE)).toEqual({
    PATH: "/bin",
    HOME: "/home/ada",
    LC_CTYPE: "C.UTF-8",
    XDG_CACHE_HOME: "/c",
  });
});

test("named variables pass too, families by a star, and unset ones stay unset", () => {
  const names = Object.keys(allowedEnvironment(SOURCE, ["MY_*", "EMPTY", "GONE", "NOT_THERE"]));
  expect(names.sort()).toEqual(["EMPTY", "HOME", "LC_CTYPE", "MY_DB", "MY_OTHER", "PATH", "XDG_CACHE_HOME"]);
});
