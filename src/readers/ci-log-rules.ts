import type { CiRule } from "./ci-log-rule.ts";
import { CONFIGURATION, INFRASTRUCTURE } from "./ci-log-rules-outside.ts";
import { BUILD, LINT, TEST } from "./ci-log-rules-work.ts";

export const CI_RULES: readonly CiRule[] = [...INFRASTRUCTURE, ...CONFIGURATION, ...LINT, ...BUILD, ...TEST];

/**
 * A step that is only there to lint. Where nothing that was printed says more it is taken at its name; a test or a
 * build is not: what nobody understands must not be charged to anybody.
 */
export const LINT_STEP =
  /\b(?:eslint|prettier|oxlint|biome|stylelint|ruff|flake8|pylint|black|isort|rubocop|standardrb|phpstan|psalm|phpcs|php-cs-fixer|pint|credo|clippy|rustfmt|gofmt|golangci-lint|staticcheck|tflint|shellcheck|ktlint|detekt|checkstyle|spotless\w*|pmd|clang-tidy|clang-format|hadolint|markdownlint|yamllint|actionlint|swiftlint|swiftformat|scalafmt|scalafix|hlint|ormolu|buildifier|commitlint|lint|format(?:-check)?|pre-commit)\b/i;
