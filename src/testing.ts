/**
 * The second package entry, `remand/testing`: a scripted model on loopback, to rehearse a loop with the real clients,
 * without a key and without a network.
 */
export { startModelServer } from "./testing/model-server.ts";
export type { ModelServer, Script } from "./testing/model-server.ts";
export { TOKENS_OF_ANSWER } from "./testing/wire.ts";
export type { ModelFailure as Failure, ModelRequest, Reply } from "./testing/wire.ts";
