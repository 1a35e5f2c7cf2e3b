import { describe, expect, it } from "vitest";
import { isSecretName } from "../../../src/parse/secrets/secret-literals.ts";

describe("names of variables", () => {
  it.each([
    "GH_TOKEN",
    "GHTOKEN",
    "NPM_TOKEN",
    "npm_config__authToken",
    "npm_config_//registry.npmjs.org/:_authToken",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_CLIENT_SECRET",
    "OPENAI_API_KEY",
    "openaiApiKey",
    "STRIPE_KEY",
    "PGPASSWORD",
    "DB_PASS",
    "MYSQL_PWD",
    "SSH_AUTH_SOCK",
    "GIT_ASKPASS",
    "GITHUB_PAT",
    "SLACK_WEBHOOK_URL",
    "SIGNING_KEYS",
  ])("%s is a secret's", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    "PATH",
    "PWD",
    "OLDPWD",
    "DATABASE_URL",
    "JAVA_HOME",
    "GOFLAGS",
    "VIRTUAL_ENV",
    "NVM_DIR",
    "npm_config_registry",
    "npm_config_cache",
    "HTTPS_PROXY",
    "no_proxy",
    "KEYBOARD_LAYOUT",
    "TOKENIZERS_PARALLELISM",
    "PASS_THROUGH",
    "GIT_AUTHOR_NAME",
    "XAUTHORITY",
    "AWS_REGION",
    "COMPASS_DIR",
    "MONKEY",
    "PATTERN",
  ])("%s is not", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});
