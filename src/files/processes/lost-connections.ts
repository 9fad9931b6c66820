import type { Worker } from "node:cluster";

/** What `node:cluster` sends with a connection, and how a worker confirms that it has it. */
interface InternalMessage {
  readonly act?: unknown;
  readonly seq?: number;
  readonly ack?: number;
  readonly accepted?: boolean;
}

type Handle = { close?(): void } | undefined;

type Send = (message: InternalMessage, handle?: Handle, ...more: unknown[]) => boolean;

interface LostConnectionsOptions {
  /** How long a worker may take to confirm a connection. */
  readonly longestMs: number;
  /** Whether all workers have been told to end: nobody takes a connection that one gives back. */
  readonly isStopping: () => boolean;
  /** Called once for a worker that takes too long. */
  readonly onStuck: () => void;
}

/**
 * Closes connections that were on their way to a worker when it ended, stopped listening, or hung.
 *
 * `node:cluster` forgets them and leaves them open, so that a client would wait for an answer until its
 * own time is over. A worker that has no room for open files loses connections without a word, and gets
 * no other: it counts as stuck. This goes by messages that Node does not document: should they change,
 * it does nothing.
 *
 * Nor does `node:cluster` hear that the channel to a worker has ended while a connection is on its way
 * there: until the worker is reaped it goes on to choose it for connections of other ports, and then
 * drops them, open. It takes a worker out at `disconnect`, which is emitted here where Node does not.
 */
export function closeLostConnections(worker: Worker, options: LostConnectionsOptions): void {
  const child = worker.process;
  const sent = new Map<number, Handle>();
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    clearTimeout(timer);
    timer = sent.size === 0 ? undefined : setTimeout(options.onStuck, options.longestMs);
  };
  const send = child.send.bind(child) as Send;
  child.send = ((message, handle, ...more) => {
    if (message.act === "newconn" && message.seq !== undefined && handle !== undefined) {
      sent.set(message.seq, handle);
      if (timer === undefined) watch();
    }
    return send(message, handle, ...more);
  }) satisfies Send as typeof child.send;
  child.on("internalMessage", ({ ack, accepted }: InternalMessage) => {
    if (ack === undefined || !sent.has(ack)) return;
    const handle = sent.get(ack);
    sent.delete(ack);
    watch();
    if (accepted === false && options.isStopping()) setImmediate(() => handle?.close?.());
  });
  let isOut = false;
  child.once("disconnect", () => (isOut = true));
  const takeOut = (): void => {
    if (!isOut) child.emit("disconnect");
  };
  const disconnect = child.disconnect.bind(child);
  // Node calls it at the end of the channel; it keeps the channel while a connection is on its way.
  child.disconnect = () => {
    disconnect();
    if (child.channel) takeOut();
  };
  child.once("exit", () => {
    takeOut();
    clearTimeout(timer);
    for (const handle of sent.values()) handle?.close?.();
    sent.clear();
  });
}
