import { rule, type CiRule } from "./ci-log-rule.ts";

/** Style: what a linter or a formatter found. */
export const LINT: readonly CiRule[] = [
  rule(
    "lint",
    8,
    "a linter counted problems",
    /✖ \d+ problems? \(|\d+ (?:errors?|problems?|violations?|offenses?).{0,40}\b(?:eslint|lint|rubocop|stylelint|checkstyle|ktlint)|Found \d+ (?:errors?|warnings?).{0,40}(?:fixable|\bruff\b|oxlint|with the `--fix`)|Your code has been rated at|You have \d+ Checkstyle violations|offenses? detected|ESLint found too many warnings|There were Checkstyle|golangci-lint exit|found \d+ (?:refactoring|code readability|consistency|warning|software design)|\d+ (?:refactoring opportunit|code readability issue|consistency issue)|issue\(s\) found|\d+ (?:lint|style) (?:errors?|issues?|violations?)|Checked \d+ files? .{0,40}Found \d+ errors?|Found \d+ of \d+ files that can be fixed|\d+ files? (?:with|have) (?:style|formatting)|(?:issues|run): \d+ issues?\b|Style violations/i,
  ),
  rule(
    "lint",
    8,
    "files are not formatted",
    /would reformat|files? would be reformatted|Code style issues (?:found )?(?:in|with)|Run Prettier (?:with --write )?to fix|\[warn\] .{1,200}\.(?:[jt]sx?|md|css|json|ya?ml)$|gofmt -[ld]|not (?:properly )?gofmt|^Diff in .{1,200}:\d+|cargo fmt.{0,40}--check|files have violations|spotlessCheck.{0,60}FAILED|clang-format|Imports are incorrectly sorted|isort|Formatting (?:check failed|issues)|files were modified by this hook|Unused (?:files|exports|dependencies) \(\d+\)|ran? `?(?:oxfmt|biome format|dprint)|File content differs from formatting|Formatter would have printed/i,
  ),
  rule(
    "lint",
    7,
    "a lint rule was broken",
    /^\s*\d+:\d+\s+(?:error|warning)\s+.{3,200}\s+[@\w/-]+$|\.py:\d+:\d+: [A-Z]{1,4}\d{3,4}\b|\((?:errcheck|govet|staticcheck|ineffassign|unused|revive|gosimple|gocritic|gosec|gofmt|goimports|misspell|lll)\)$|#\[deny\(clippy|`-D (?:clippy|warnings|unused|dead)|-D clippy::|clippy::\w+|lint\/\w+\/\w+|(?:SC|DL)\d{4}\b|MD\d{3}\/|[CRWEF]\d{4}: .{3,200}\([\w-]+\)$|@typescript-eslint\/|\[Checkstyle\]|\.java:\[?\d+[^\]]*\]? .{1,200}\[?(?:Javadoc\w*|Indentation|LineLength|UnusedImports|\w+Check)\]?|-warnings-as-errors\]|\[(?:modernize|readability|bugprone|performance|cppcoreguidelines|misc|cert|google|hicpp|llvm)-[\w-]+|\(terraform_\w+\)|🪪|\bktlint\b|detekt|rubocop|stylelint|markdownlint|hadolint|shellcheck|actionlint|commitlint/i,
  ),
];

/** Compiling, type checking, bundling, and what the repository says of its dependencies. */
export const BUILD: readonly CiRule[] = [
  rule(
    "build",
    8,
    "a compiler found errors",
    /error TS\d{3,5}:|error\[E\d{4}\]|could not compile `|\.go:\d+:\d+: (?!.*\((?:errcheck|govet|staticcheck|ineffassign|unused|revive|gosimple|gocritic|gosec|gofmt|goimports|misspell|lll)\)$).{3,}|COMPILATION ERROR|Compilation failure|\.java:\[?\d+[,:]\d+\]?|\.kt:\d+:\d+: error|^e: file:|error: (?:expected (?:one of|[`;,]|identifier|expression|item|type)|cannot find symbol|unresolved|undefined reference)|^(?!(?:\w+: error: (?:unrecognized|unknown|unexpected|no such)|Error: buildx)).*: (?:fatal )?error: (?!.*(?:XCTAssert|assert|-warnings-as-errors))|Compilation failed|^-- [A-Z][A-Z ]{5,} -{5,} \S+|^Error: (?:This expression has type|Unbound (?:module|value|constructor|type)|Syntax error)|===> Compiling \S+ failed|\*\* \((?:CompileError|TokenMissingError|SyntaxError)\)|Syntax error compiling at|PHP Parse error|\*\* BUILD FAILED \*\*|CMake Error at|meson\.build:\d+:\d+: ERROR|error: linker `|gyp ERR! build error|Failed building wheel|Failed to build gem native extension|AAPT: error|Execution failed for task ':\S*(?:compile|kapt|ksp|dex|merge|process)\w*'|schema validation|error: builder for '|failed to parse manifest|DeclarationError:|ParserError:|Error: The (?:getter|method|argument type|name) '|Unknown directive type|\(with warnings treated as errors\)|^\[error\] (?:one|two|\w+|\d+) errors? found|undefined reference to|ld(?:\.lld)?: (?:error|symbol)|error CS\d{4}|SyntaxError: (?:invalid syntax|Unexpected token|unterminated)|collect2: error|\[build failed\]|Found \d+ errors? in \d+ files?|mypy.{0,40}error|error: .{1,200}\[(?:attr-defined|arg-type|assignment|return-value|name-defined|import-not-found|call-arg|union-attr|index|override|misc)\]$/i,
  ),
  rule(
    "build",
    7,
    "a bundler or a module could not be resolved",
    /Module not found: |Can't resolve '|Rollup failed to resolve|Could not resolve "|\[vite(?:[:\w-]+)?\].{0,200}(?:error|failed)|error during build:|webpack .{0,40}compiled with \d+ errors?|Failed to compile\.|Build failed with \d+ errors?|Transform failed with \d+ error|✘ \[ERROR\]|no required module provides package|cannot find (?:package|crate|module)|unresolved import|cannot find module providing|failed to select a version|type-?check(?:ing)? failed|exceeded maximum budget|Package size limit has exceeded|bundle generation failed|Error occurred prerendering/i,
  ),
  rule(
    "build",
    8,
    "the dependencies in the repository do not fit together",
    /can only install packages when your package\.json and package-lock\.json|ERR_PNPM_OUTDATED_LOCKFILE|lockfile (?:needs to be|would have been) (?:updated|modified)|Your lockfile needs to be updated|YN0028|the lock ?file .{0,80}(?:needs to be updated|is not up to date|out of date)|\bERESOLVE\b|ResolutionImpossible|version solving failed|No matching version found for|(?:ERR_PNPM_)?NO_MATCHING_VERSION|No matching distribution found|inconsistent vendoring|not marked as explicit in vendor|candidate versions found which didn't match|missing go\.sum entry|updates to go\.mod needed|go: updates to go\.sum|Could not find artifact \S+ in|Could not resolve dependencies for project|dependency .{0,80}not found|\bETARGET\b|'\S+@\S+' is not in (?:this|the npm) registry|npm (?:ERR!|error) (?:code )?E404|pubspec\.lock|Because .{1,200} depends on|poetry\.lock .{0,60}(?:out of|changed)/i,
  ),
  rule(
    "build",
    8,
    "a compiler or a generator does not take what is written",
    /Undefined symbols for architecture|duplicate symbol|ld: library not found|cannot find -l\w|Duplicate class|Manifest merger failed|Missing class .{1,200}R8|error (?:FS|BC|MSB|NU|NETSDK)\d{3,5}\b|SassError|Undefined (?:mixin|variable)\.|Can't find stylesheet|SyntaxError: |IndentationError: |is not exported (?:by|from)|does not provide an export named|has no exported member|Cannot find name '|Unresolved reference|is not a member of|not in scope: |use of undeclared identifier|undeclared identifier|no member named|LaTeX Error:|Undefined control sequence|error building site|found broken links|Aborted with \d+ warnings? in strict mode|Liquid Exception|Unsupported argument|Reference to undeclared|no such target '|no such package '|\*\* \(Mix\) Could not compile|^\S+\.proto:\d+:\d+: |Cannot query field|LoadError: |lazy loading failed for package|Type error: /,
  ),
  rule(
    "build",
    8,
    "a dependency that the repository asks for does not exist so",
    /YN00(?:82|35)\b|Could not find gem '|could not find compatible versions|Your bundle is locked|frozen mode|no matching versions for query|unknown revision|no matching package named|--locked was passed|DO NOT MATCH THE HASHES|No solution found when resolving|uv\.lock` needs to be updated|Pipfile\.lock .{0,40}out of date|Your requirements could not be resolved|lock file is not up to date|\bNU1[16]\d\d\b|> Could not find \S+:\S+:\S+\.|dependencies could not be resolved because|pub get failed|Failed to use "\S+" because|packages? .{0,80}(?:has|have) been yanked|integrity check(?:sum)? failed|EINTEGRITY/i,
  ),
  rule(
    "build",
    6,
    "an image could not be built",
    /executor failed running|failed to solve: process|The command '.{1,200}' returned a non-zero code|failed to compute cache key/i,
  ),
];

/** Tests that ran and did not pass. */
export const TEST: readonly CiRule[] = [
  rule(
    "test",
    9,
    "a test runner counted failures",
    /\bTests?:?\s+(?:\d+ (?:passed|skipped|todo)[,|] *)*[1-9]\d* failed|Test (?:Files|Suites):?\s+[1-9]\d* failed|= (?:.{0,80}, )?[1-9]\d* (?:failed|errors?)\b.{0,80}=|FAILED \((?:failures|errors)=|test result: FAILED|^#\s*fail [1-9]|ℹ fail [1-9]|^\s*[1-9]\d* failing\b|^--- FAIL: |^\s*--- FAIL: |^not ok \d+|[1-9]\d* (?:examples?|scenarios?|specs?|tests?).{0,40}, [1-9]\d* (?:failures?|failed)|There (?:was|were) \d+ (?:failure|error)s?|FAILURES!|Failed Tests [1-9]|There are test failures|\d+ tests? completed, [1-9]\d* failed|Failed!\s+- Failed:\s+[1-9]|^\s*[1-9]\d* failed$|\d+ tests?, [1-9]\d* (?:failed|failure|error)|[1-9]\d* tests? failed out of|The following tests FAILED|^\[ {2}FAILED {2}\]|^\/\/\S+ .*FAILED in \d|\d+ tests? pass(?:es)? and \d+ fails?|^FAILED \| \d|Executed \d+ (?:tests?, with [1-9]|of \d+ .{0,40}\([1-9]\d* FAILED\))|TOTAL: [1-9]\d* FAILED|\*\* TEST FAILED \*\*|^\s*Failing tests:|[1-9]\d* tests? FAILED/i,
  ),
  {
    class: "test",
    weight: 9,
    shows: "a test runner counted failures",
    pattern: /Tests run: \d+, Failures: (?:[1-9]\d*|\d+, Errors: [1-9])/,
    unless: /Tests run: \d+, Failures: 0, Errors: 0, .*Flakes: [1-9]/,
  },
  rule(
    "test",
    7,
    "an assertion did not hold",
    /AssertionError|AssertionFailedError|XCTAssert|Assertion `|(?<!Finished|conclusion|result): Failure$|assertion (?:`.*` )?failed|panicked at |^E {3,}(?:assert\b|AssertionError|(?!ConnectionError|ImportError|ModuleNotFoundError|\w+\.)\w+Error)|expect\(received\)|Expected(?:: |\s+values to be)|^\s*(?:TypeError|ReferenceError|RangeError): |NullPointerException|undefined method|NoMethodError|(?:test|tests) timed out after|Exceeded timeout of \d+ ?ms for a|race detected during|Failure\/Error:|expect\(\S+\)\.\w+\S* failed|did not meet the (?:global )?(?:coverage )?threshold|coverage .{0,60}(?:below|less than|does not meet|threshold)|Coverage failure: total|FAIL Required test coverage|Mutation score .{0,60}below/i,
  ),
  rule(
    "test",
    7,
    "a test failed",
    /Test Case .{1,200} failed|Test failed$|^FAIL\s+\S+|✕ |✖ .{3,}\(\d+(?:\.\d+)?m?s\)|^FAILED \S+::|ERROR! -- |<<< (?:ERROR|FAILURE)!|\bFAILED TESTS?\b|Snapshot .{0,40}(?:mismatched|obsolete)|snapshots? failed|> Task :\S*test\S* FAILED/i,
  ),
];
