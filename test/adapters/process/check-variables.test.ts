import { describe, expect, it } from "vitest";
import { checkVariables } from "../../../src/adapters/process/environment.ts";

const USER = {
  PATH: "/bin",
  HOME: "/home/ada",
  DATABASE_URL: "postgres://localhost/test",
  npm_config_registry: "https://npm.example.com/",
  HTTPS_PROXY: "http://proxy.example.com:3128",
  GH_TOKEN: "ghp_1",
  PGPASSWORD: "hunter2",
  NOTHING: undefined,
};

describe("the environment of checks", () => {
  it("is the user's, without secrets", () => {
    const { seen, withheld } = checkVariables(USER);
    expect(Object.keys(seen)).toEqual(["PATH", "HOME", "DATABASE_URL", "npm_config_registry", "HTTPS_PROXY"]);
    expect(withheld).toEqual({ GH_TOKEN: "ghp_1", PGPASSWORD: "hunter2" });
  });

  it("includes every variable that a setting names", () => {
    const { seen, withheld } = checkVariables({ ...USER, REMAND_COOKIE: "c" }, ["PG*", "REMAND_COOKIE"]);
    expect(seen).toMatchObject({ PGPASSWORD: "hunter2", REMAND_COOKIE: "c" });
    expect(Object.keys(withheld)).toEqual(["GH_TOKEN"]);
  });

  it("has nothing about how Remand itself was started, such as the git hook or package script", () => {
    const own = {
      PWD: "/somewhere",
      OLDPWD: "/",
      INIT_CWD: "/somewhere",
      npm_lifecycle_event: "remand",
      npm_package_json: "/somewhere/package.json",
      npm_config_local_prefix: "/somewhere",
      GIT_DIR: "/somewhere/.git",
      GIT_INDEX_FILE: "/somewhere/.git/index",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "x",
      REMAND_PROMPT_FILE: "/tmp/prompt",
      REMAND_DB: "postgres://db",
    };
    expect(checkVariables(own)).toEqual({ seen: {}, withheld: {} });
    expect(checkVariables({ GIT_AUTHOR_NAME: "Ada", GIT_SSH_COMMAND: "ssh -v" }).seen).toEqual({
      GIT_AUTHOR_NAME: "Ada",
      GIT_SSH_COMMAND: "ssh -v",
    });
  });
});
