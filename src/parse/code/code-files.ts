/** Is this a file of code, and not of types, settings or data? */
export const isCodeFile = (path: string): boolean => CODE.test(path) && !NO_CODE.test(path);

const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|kts|scala|cs|rb|php|swift|c|cc|cpp|h|hpp|sh|bash)$/;
/** Types and settings hold nothing that a test could notice. */
const NO_CODE = /\.d\.[cm]?ts$|(?:^|\/)[\w.-]+\.(?:config|conf)\.[cm]?[jt]s$/;
