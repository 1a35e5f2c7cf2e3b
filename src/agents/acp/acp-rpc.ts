import { isRecord, type JsonObject } from "../../stdx/assert.ts";

/** This side of a JSON-RPC connection, with one message per line. */
export interface RpcPeer {
  /** Rejects with an `RpcError` if the other side returns an error, or is gone. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  receive(line: string): void;
  /** The other side is gone: rejects all pending requests. */
  hangUp(): void;
}

export interface RpcHandlers {
  send(line: string): void;
  /** Handles a request of the other side; `null`: not supported. */
  onRequest(method: string, params: JsonObject): JsonObject | null;
  onNotification(method: string, params: JsonObject): void;
}

export class RpcError extends Error {
  readonly code: number;
  readonly data: JsonObject;
  constructor(code: number, message: string, data: JsonObject = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const HUNG_UP = -1;

export function createRpcPeer({ send, onRequest, onNotification }: RpcHandlers): RpcPeer {
  const waiting = new Map<number, { resolve(result: JsonObject): void; reject(fault: RpcError): void }>();
  let count = 0;
  let isOver = false;
  const sendMessage = (message: JsonObject): void => send(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  function settleRequest({ id, error, result }: JsonObject): void {
    const waiter = waiting.get(id as number);
    waiting.delete(id as number);
    if (!isRecord(error)) return waiter?.resolve(isRecord(result) ? result : {});
    const { code, message, data } = error;
    const words = typeof message === "string" ? message : "it did not say why";
    waiter?.reject(new RpcError(Number(code), words, isRecord(data) ? data : {}));
  }

  return {
    request(method, params) {
      if (isOver) return Promise.reject(new RpcError(HUNG_UP, "the agent is gone"));
      const id = ++count;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        sendMessage({ id, method, params });
      });
    },
    notify: (method, params) => sendMessage({ method, params }),
    receive(line) {
      const message = parseMessage(line);
      if (message === null) return;
      const { id, method } = message;
      const params = isRecord(message["params"]) ? message["params"] : {};
      if (typeof method !== "string") return settleRequest(message);
      if (id === undefined) return onNotification(method, params);
      const result = onRequest(method, params);
      sendMessage(
        result === null ? { id, error: { code: -32601, message: "this client cannot do that" } } : { id, result },
      );
    },
    hangUp() {
      isOver = true;
      for (const { reject } of waiting.values()) reject(new RpcError(HUNG_UP, "the agent ended in the middle of it"));
      waiting.clear();
    },
  };
}

/** Parses a message; `null` for other output, which agents print too. */
function parseMessage(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && value["jsonrpc"] === "2.0" ? value : null;
  } catch {
    return null;
  }
}
