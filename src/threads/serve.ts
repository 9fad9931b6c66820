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
export function serve(handle: (request: unknown) => Reply | Promise<Reply>): void {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
  const answer = async ({ id, request }: RequestMessage): Promise<void> => {
    try {
      const { value, transfer = [] } = await handle(request);
      port.postMessage({ id, value } satisfies ResponseMessage, transfer);
    } catch (error) {
      port.postMessage({ id, error: sendableError(error) } satisfies ResponseMessage);
    }
  };
  let last = Promise.resolve();
  port.on("message", (message: RequestMessage) => {
    last = last.then(() => answer(message));
  });
}
