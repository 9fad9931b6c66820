import type { ServerResponse } from "node:http";
import { beginEvent, endEvents, outcomeEvents, type TakeEvent } from "../memgator-lines.ts";
import type { Outcome } from "../outcome.ts";
import type { Session, SessionEnd, SessionObserver } from "../session.ts";

const KEEP_ALIVE_MS = 15_000;
/** A listener that is further behind is let go. */
const MAX_BEHIND_BYTES = 1 << 20;

/**
 * Sends what the aggregator does to whoever listens, as server-sent events with MemGator's members.
 *
 * Costs nothing while nobody listens; a listener that does not keep up is let go.
 */
export class Monitor implements SessionObserver {
  readonly #listeners = new Set<ServerResponse>();
  readonly #maxListeners: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxListeners: number = 100) {
    this.#maxListeners = maxListeners;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Begins a stream of events; false when too many listen already. */
  add(response: ServerResponse): boolean {
    if (this.#listeners.size >= this.#maxListeners) return false;
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-cache",
      "X-Accel-Buffering": "no",
    });
    response.write(": events of the aggregator\n\n");
    this.#listeners.add(response);
    response.once("close", () => this.#remove(response));
    // An idle connection would be cut, and a listener that went unseen would stay.
    this.#timer ??= setInterval(() => this.#send(": still here\n\n"), KEEP_ALIVE_MS).unref();
    return true;
  }

  began(session: Session): void {
    if (this.#listeners.size > 0) beginEvent(session, this.#tell);
  }

  answered(session: Session, outcome: Outcome): void {
    if (this.#listeners.size > 0) outcomeEvents(session, outcome, this.#tell);
  }

  ended(session: Session, end: SessionEnd): void {
    if (this.#listeners.size > 0) endEvents(session, end, this.#tell);
  }

  /** Ends all streams. */
  close(): void {
    for (const listener of this.#listeners) listener.end();
  }

  readonly #tell: TakeEvent = ({ id }, members) => {
    this.#send(`data: {"session": "${id}", ${members}}\n\n`);
  };

  #send(text: string): void {
    for (const listener of this.#listeners) {
      if (listener.writableLength > MAX_BEHIND_BYTES) listener.destroy();
      else listener.write(text);
    }
  }

  #remove(listener: ServerResponse): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
