import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { keepTestToken, TEST_TOKEN } from "./kit/test-token.ts";

/*
 * Tests have no terminal, so what they answer is said by a token. It is that of a state folder for tests: a token of the
 * user who runs them is not touched.
 */
const home = join(tmpdir(), `remand-tests-${userInfo().uid}`);
keepTestToken(home);
process.env["XDG_STATE_HOME"] = home;
process.env["REMAND_TOKEN"] = TEST_TOKEN;
