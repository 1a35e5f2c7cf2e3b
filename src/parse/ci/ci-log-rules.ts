import type { CiClass } from "../../core/gates/gate.ts";

/**
 * What a line of a CI log shows about why the run failed. `weight` is how strong the line is by itself: 10 settles the
 * class (nothing else can explain such a line), 3 is only a hint. Rules are matched line by line, and each counts once.
 *
 * The classes: `test`, `lint` and `build` are caused by the contents of the repository; `configuration` by the set-up
 * of the CI run; `infrastructure` by neither.
 */
export interface CiRule {
  readonly class: CiClass;
  readonly weight: number;
  readonly pattern: RegExp;
  /** What a match shows, for explanations. */
  readonly shows: string;
  /** A line that cancels the match, anywhere in the log: the last line of a tool that retried. */
  readonly unless?: RegExp;
}

const rule = (ciClass: CiClass, weight: number, shows: string, pattern: RegExp): CiRule => ({
  class: ciClass,
  weight,
  pattern,
  shows,
});

/** Style: what a linter or a formatter reports. */
const LINT: readonly CiRule[] = [
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

/** Compiling, type checking, bundling, and the repository's declared dependencies. */
const BUILD: readonly CiRule[] = [
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

/** Tests that ran and failed. */
const TEST: readonly CiRule[] = [
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

/** The runner's machine, and the network and services around it. */
const INFRASTRUCTURE: readonly CiRule[] = [
  rule(
    "infrastructure",
    10,
    "the runner went away",
    /runner has received a shutdown signal|lost communication with the server|runner (?:system )?failure|hosted runner encountered an error|agent (?:was )?lost|node (?:was )?(?:preempted|evicted)|spot instance|job was (?:evicted|preempted)|pod .{0,60}(?:evicted|preempted|was deleted)|executor .{0,40}(?:disconnected|terminated)|received request to deprovision|machine (?:was )?terminated unexpectedly|ChannelClosedException|channel is closing down|^Cannot contact \S+:|agent .{0,40}(?:went offline|is offline|disconnected)|was not acquired by runner|no (?:runners?|agents?) (?:is |are |became )?(?:online|available)|waiting for a hosted runner/i,
  ),
  rule(
    "infrastructure",
    10,
    "the disk is full",
    /no space left on device|\bENOSPC\b|disk quota exceeded|not enough disk space/i,
  ),
  rule(
    "infrastructure",
    11,
    "memory ran out",
    /Killed signal terminated program|\(signal: 9, SIGKILL: kill\)|\bOOMKilled\b|out of memory: kill|oom-kill|exit (?:code|status):? 137\b|signal 9 \(SIGKILL\)|\bKilled\s+(?:node|npm|python|java|make|cargo)|The operator killed|Cannot allocate memory|gradle build daemon (?:disappeared|has been stopped)/i,
  ),
  rule(
    "infrastructure",
    8,
    "a name could not be looked up",
    /could not resolve host|temporary failure in name resolution|\bEAI_AGAIN\b|getaddrinfo ENOTFOUND (?:registry|github|proxy|repo|api|pypi|cdn|dl|artifact)|name or service not known|no such host\b|Temporary failure resolving|failed to lookup address information/i,
  ),
  rule(
    "infrastructure",
    8,
    "a download failed on the way",
    /\b(?:ERR!|error|fatal|failed|warning|E:).{0,200}(?:\b50[0234]\b.{0,30}(?:bad gateway|service unavailable|gateway time-?out|internal server error)|\b(?:ECONNRESET|ETIMEDOUT|ESOCKETTIMEDOUT|EPIPE)\b|connection (?:reset|timed out)|TLS handshake timeout|i\/o timeout|unexpected EOF|Read timed out|SSL_ERROR_SYSCALL|early EOF|RPC failed)/i,
  ),
  rule(
    "infrastructure",
    8,
    "a service was asked too often, or was down",
    /toomanyrequests|You have reached your (?:unauthenticated )?pull rate limit|API rate limit exceeded|secondary rate limit|\b429\b.{0,40}too many requests|(?:returned error|status(?: code)?|responded with|HTTP(?:\/[\d.]+)?)[: ]+5\d\d\b|\b50[234] (?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out)|service is (?:currently )?unavailable|over its data quota|bandwidth (?:limit|quota)|\bE50[0234]\b|failed with 50[0234]\b|incident (?:is )?in progress/i,
  ),
  rule(
    "infrastructure",
    8,
    "packages could not be fetched",
    /Failed to fetch https?:|failed to do request: .{0,200}(?:EOF|timeout|refused|reset)|Error when performing the request to|Connect(?:ion)? timed out|connect ETIMEDOUT|Could not (?:download|get resource) |Unable to (?:fetch|download)|Hash Sum mismatch|Could not (?:transfer|GET|HEAD) .{0,200}(?:timed? ?out|refused|reset|5\d\d)|spurious network error|net\/http: (?:request canceled|TLS)|dial tcp .{0,80}(?:i\/o timeout|connection refused|connect: )|Retrying \(Retry\(total=0|error: RPC failed|error pulling image|Max retries exceeded with url|network socket disconnected|request to https?:\S+ failed, reason|Connect Timeout Error|UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_TIMEOUT|curl: \((?:5|6|7|18|28|35|52|56|92)\)/i,
  ),
  rule(
    "infrastructure",
    9,
    "a service that the tests need was not there",
    /\bECONNREFUSED\b.{0,60}:(?:5432|3306|6379|27017|9200|5672|9092|2379|1433|4444|8983)\b|could not connect to server: connection refused|Can't connect to (?:local )?MySQL server|Error \d+ connecting to \S+:\d+\. Connection refused|Could not find a valid Docker environment|Error while fetching server API version|Cannot connect to the Docker daemon|service container .{0,60}(?:failed|unhealthy)|One or more containers failed to start|container .{0,80}is unhealthy|Failed to initialize container|Redis connection to .{0,80} failed|MongoNetworkError|MongoServerSelectionError|connection to server at .{0,80} failed: Connection refused|Communications link failure/i,
  ),
  rule(
    "infrastructure",
    7,
    "a cache or an artifact could not be had",
    /(?:cache|artifact) (?:service|upload|download).{0,80}(?:failed|unavailable|timed out|5\d\d)|Failed to (?:save|restore|upload|download) (?:cache|artifact).{0,80}(?:5\d\d|timeout|ECONN)|Unable to download artifact/i,
  ),
  rule(
    "infrastructure",
    6,
    "the job took longer than it may",
    /exceeded the maximum execution time|Job timed out|timeout: sending signal TERM|execution took longer than|context deadline exceeded|Build timed out/i,
  ),
  rule(
    "infrastructure",
    6,
    "the clock or a certificate is wrong",
    /certificate (?:has expired|is not yet valid)|CERT_HAS_EXPIRED|Release file .{0,200} is not (?:yet )?valid/i,
  ),
  rule(
    "infrastructure",
    6,
    "a browser or emulator could not be started",
    /Failed to launch (?:the )?browser|session not created|emulator.{0,40}(?:did not boot|timed out)|Xvfb failed|DevToolsActivePort file doesn't exist|device offline/i,
  ),
];

/** The set-up of the run: the workflow, its permissions, its images, its tools. */
const CONFIGURATION: readonly CiRule[] = [
  rule(
    "configuration",
    10,
    "the workflow itself is wrong",
    /Invalid workflow file|workflow is not valid|You have an error in your yaml syntax|Unexpected value '|Unrecognized (?:named-value|function)|error parsing called workflow|did not find expected key|jobs config should contain|\.gitlab-ci\.yml.{0,80}(?:invalid|error)|yaml: (?:line \d+|unmarshal)|mapping values are not allowed|unknown (?:executor|orb)|Cannot find orb|ERROR IN CONFIG FILE|Cannot find a definition for|No such DSL method|No such property: |WorkflowScript: \d+|The pipeline is not valid|template (?:is invalid|not found)|unknown (?:job|stage|keyword|image|parameter)\b|The template is not valid|jobs:\S+ (?:config|needs)|config contains unknown keys|config should implement|invalid compose project|depends on undefined service|undefined (?:service|volume|network) "|No event triggers defined|Job '.{1,60}' depends on unknown job/i,
  ),
  rule(
    "configuration",
    10,
    "an action, image or runner that does not exist",
    /Unable to resolve action|Can't find 'action\.ya?ml'|manifest (?:for \S+ not found|unknown)|pull access denied|repository does not exist|No runner matching|Requested labels: .{0,80}(?:not found|offline)|Image .{0,80}not found|invalid reference format|Version .{1,40} (?:with arch .{1,20} )?(?:not found|was not found)|definition not found: |Could not find satisfied version|version (?:spec )?\S+ (?:is )?not (?:available|supported|installed)|Unable to find (?:Node|Python|Java|Go) version|no matching manifest for/i,
  ),
  rule(
    "configuration",
    9,
    "a secret, an input or a permission is missing",
    /Input required(?: and not supplied|:)|service connection .{0,80}(?:does not exist|not authorized|could not be found)|has not been authorized|variables? .{0,60}(?:set\?|is empty|are empty|undefined)|required (?:field|variable|input|secret)|empty values not allowed|Resource not accessible by integration|(?:secret|token|credential|password|API_KEY|environment variable)\S* (?:\S+ ){0,3}(?:is not set|not set|is missing|was not provided|is required|not found)|Permission(?:s)? denied \(publickey\)|Error: (?:Unable to get ACTIONS_ID_TOKEN|Credentials could not be loaded|Not authorized)|\b40[13] (?:Unauthorized|Forbidden)|authentication (?:required|failed)|Bad credentials|ENEEDAUTH|E40[13]\b|denied: (?:permission|requested access)|remote: Permission to|could not read Username|is not authorized to perform|AccessDenied|unbound variable|Could not assume role|No basic auth credentials/i,
  ),
  rule(
    "configuration",
    9,
    "a variable is not set",
    /[Mm]issing (?:required )?env(?:ironment)?(?:[ -]?var(?:iable)?s?)|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b['"`]? (?:(?:is|are|was|has|must|environment|env|variable|not|been) ){0,4}(?:not set|unset|missing|empty|required|not defined|undefined|be set|be provided|be defined|set)(?: in\b| for\b|[.:;,)]|$)|[Ee]nv(?:ironment)? var(?:iable)?s? .{0,60}(?:not set|not found|missing|required|undefined|must be|be set)|KeyError: '[A-Z][A-Z0-9]*_[A-Z0-9_]+'|Field required \[type=missing|Missing `?secret_key_base|Perhaps you passed the wrong key/,
  ),
  rule(
    "configuration",
    8,
    "the run asks a tool for what it does not know",
    /unrecognized arguments?:|unrecognized (?:command.?line )?option|unknown (?:option|argument|flag|switch)\b(?!.{0,40}warning)|unexpected argument '|no such option|flag provided but not defined|invalid (?:option|flag|switch)\b|Error in config file|failed to load config from|Could not find (?:a )?config(?:uration)? file|Validation Error:$|Preset \S+ (?:is )?not found|Cannot load browser|it is not registered! Perhaps/i,
  ),
  rule(
    "configuration",
    8,
    "there was nothing to test where the run looked",
    /No tests? (?:files? )?(?:were )?found(?:,|\.|$)|^no tests ran|No projects matched|file or directory not found: |no spec files were found|No tests? (?:is|are) available|no tests to run$|did not match any (?:tests|files)/i,
  ),
  rule(
    "configuration",
    9,
    "what the tests are run with is not installed",
    /Executable doesn't exist at|Could not find Chrom|cannot find Chrome binary|Please run the following command to download new browsers|browsers? (?:is|are) not installed|No (?:usable )?Chrome/i,
  ),
  rule(
    "configuration",
    9,
    "the CI service cannot find what its file names",
    /Could not find credentials entry|no nodes with the label|Tool type "\S+" does not have an install|No tool named|Invalid agent type|No such library resource|not permitted to use (?:method|staticMethod|new)|RejectedAccessException|Unable to find \S*Jenkinsfile|Couldn't find any revision to build|Could not find a pool with name|No agent found in pool|A task is missing\. The pipeline references|variable group .{0,60}could not be found|No agents matching|Failed to upload and process pipeline|Failed to parse pipeline|Cannot find a job named|Config does not conform to schema|no runners (?:that are |online )?.{0,40}(?:assigned|with tags|match)|chosen stage .{0,40}does not exist|undefined need|Included file .{0,120}does not exist|error in your bitbucket-pipelines|is only allowed '|workflow was not found|Some specified paths were not resolved|Dependencies lock file is not found|Unable to locate executable file|No compatible agents|unmet requirements|is not allowed to deploy|Unable to process file command|profile "\S+" .{0,40}(?:does not|could not)|context .{0,60}does not exist|unknown environment '|Sessions not found/i,
  ),
  rule(
    "configuration",
    9,
    "what the run signs in with is missing or wrong",
    /Unable to locate credentials|could not find default credentials|ExpiredToken|InvalidClientTokenId|security token included in the request is|must be logged in to the server|Host key verification failed|Load key .{0,80}(?:invalid format|error in libcrypto)|no default secret key|No valid credential sources|Username and password required|error getting credentials|No signing certificate|No profiles for '|Keystore file .{0,120}not found|Project not found\. Please check the|No value for required variable|token (?:has|is) expired|Invalid username or (?:password|token)|insufficient[_ ]scope/i,
  ),
  rule(
    "configuration",
    8,
    "the run starts in the wrong place or on the wrong machine",
    /exec format error|bad interpreter|^\S*cd: .{1,120}No such file or directory|Could not read package\.json|No package\.json (?:\S+ )?(?:was )?found|requires a project to execute but there is no POM|go\.mod file not found|cannot find main module|could not find `Cargo\.toml`|Could not locate Gemfile|MSB100[39]\b|target stage .{1,60}could not be found|no such service: |SDK location not found|Unable to find a destination matching|Could not find or load main class org\.gradle|Unable to access jarfile|GradleWrapperMain|: No module named \S+$(?<=python\S*: No module named \S+)|No pnpm version is specified|ERR_PNPM_BAD_PM_VERSION|This project is configured to use|is not a git repository|component '\S+' .{0,60}(?:is not available|unavailable)|target may not be installed|licen[cs]es? .{0,60}not (?:been )?accepted|syntax error near unexpected token|exit (?:code|status):? 126\b/i,
  ),
  rule(
    "configuration",
    7,
    "a tool or a script that the run names is not there",
    /(?:^|: |line \d+: )[\w./-]+: (?:command )?not found$|: command not found|executable file not found in \$PATH|is not recognized as (?:an internal|the name)|Missing script: |Command "\S+" not found|No rule to make target|ERR_PNPM_NO_SCRIPT|npm ERR! missing script|Couldn't find a script named|Task '\S+' not found|can't open file .{0,80}No such file|Unknown lifecycle phase|No such (?:command|task)|exit (?:code|status):? 127\b|\.sh: (?:No such file|Permission denied)|Is the "?actions\/setup|Dockerfile: no such file|failed to read dockerfile|working directory .{0,120}(?:No such file|does not exist)|cannot access '\.github/i,
  ),
  rule(
    "configuration",
    7,
    "the versions of the tools do not fit",
    /EBADENGINE|Unsupported engine|The engine "\S+" is incompatible|requires (?:a )?(?:peer )?(?:node|python|java|go|rustc)(?: version)? ?[><=~^v\d]|Unsupported class file major version|invalid target release|requires rustc \d|go\.mod requires go|This version of pnpm requires|does not satisfy .{0,40}python_requires|Requires-Python|unsupported (?:GOOS|platform)|Could not find toolchain|Unsupported environment \(bad|(?:Node|Python|Java|Go|Ruby) version is incompatible|You are using (?:Node|Python|Java|Ruby)\S* v?\d.{0,60}requires|Cannot find a Java installation|No matching toolchains? found|toolchain '\S+' is not installed|Your Ruby version is|requires php \S+ but your php|your php version .{0,60}does not satisfy|requires ext-\w+|extension \S+ is missing|compatible \.NET SDK was not found|SDK does not support targeting|toolchain not available|InterpreterNotFound|could not find python interpreter|versions? `\S+' is not installed|no version is set for|No (?:preset )?version installed for/i,
  ),
];

export const CI_RULES: readonly CiRule[] = [...INFRASTRUCTURE, ...CONFIGURATION, ...LINT, ...BUILD, ...TEST];

/**
 * A step that only lints. If the output explains nothing more, such a step is classified by its name. Steps for tests
 * or builds are not: never charge unclassified failures.
 */
export const LINT_STEP =
  /\b(?:eslint|prettier|oxlint|biome|stylelint|ruff|flake8|pylint|black|isort|rubocop|standardrb|phpstan|psalm|phpcs|php-cs-fixer|pint|credo|clippy|rustfmt|gofmt|golangci-lint|staticcheck|tflint|shellcheck|ktlint|detekt|checkstyle|spotless\w*|pmd|clang-tidy|clang-format|hadolint|markdownlint|yamllint|actionlint|swiftlint|swiftformat|scalafmt|scalafix|hlint|ormolu|buildifier|commitlint|lint|format(?:-check)?|pre-commit)\b/i;
