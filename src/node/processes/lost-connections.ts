import type { Worker } from "node:cluster";

/** What `node:cluster` sends with a connection, and how a worker confirms that it has it. */
interface InternalMessage {
  readonly act?: unknown;
  readonly seq?: number;
  readonly ack?: number;
}

type Send = (message: InternalMessage, handle?: { close?(): void }, ...more: unknown[]) => boolean;

/**
 * Closes connections that were on their way to a worker when it ended.
 *
 * `node:cluster` forgets them and leaves them open, so that a client would wait for an answer until its
 * own time is over. This goes by messages that Node does not document: should they change, it does
 * nothing.
 */
export function closeLostConnections(worker: Worker): void {
  const child = worker.process;
  const sent = new Map<number, { close?(): void }>();
  const send = child.send.bind(child) as Send;
  child.send = ((message, handle, ...more) => {
    if (message.act === "newconn" && message.seq !== undefined && handle !== undefined) {
      sent.set(message.seq, handle);
    }
    return send(message, handle, ...more);
  }) satisfies Send as typeof child.send;
  child.on("internalMessage", ({ ack }: InternalMessage) => {
    if (ack !== undefined) sent.delete(ack);
  });
  child.once("exit", () => {
    for (const handle of sent.values()) handle.close?.();
    sent.clear();
  });
}
