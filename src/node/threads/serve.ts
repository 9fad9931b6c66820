import { parentPort } from "node:worker_threads";
import type { TransferListItem } from "node:worker_threads";
import { sendableError } from "./messages.ts";
import type { RequestMessage, ResponseMessage } from "./messages.ts";

/** What a handler gives back, with the buffers that move to the other thread. */
export interface Reply {
  readonly value: unknown;
  readonly transfer?: readonly TransferListItem[];
}

/** Answers the requests of a {@link Thread}, one after the other, until the thread is ended. */
export function serve(handle: (request: unknown) => Reply): void {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
  port.on("message", ({ id, request }: RequestMessage) => {
    try {
      const { value, transfer = [] } = handle(request);
      port.postMessage({ id, value } satisfies ResponseMessage, transfer);
    } catch (error) {
      port.postMessage({ id, error: sendableError(error) } satisfies ResponseMessage);
    }
  });
}
