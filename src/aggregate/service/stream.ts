import { Readable } from "node:stream";
import { asError } from "../../errors.ts";
import { ClientFault, type Problem, problemReply, type Reply } from "../../http/reply.ts";
import type { AggregateRequest, Aggregator } from "../aggregator.ts";
import type { MementoList } from "../../memento/memento-list.ts";
import { beginEvent, endEvents, outcomeEvents, type TakeEvent } from "../memgator-events.ts";
import { decisionJson } from "../route/decision.ts";
import type { Outcome, Session, SessionEnd, SessionObserver } from "../session.ts";

/** Mementos per event; a browser shows the first ones while others arrive. */
const CHUNK = 5000;

/** Interval of keep-alive comments: idle connections get cut. */
const STILL_HERE_MS = 15_000;

/** The text of an event, in parts, generated when the client is ready for it. */
type EventParts = () => Iterable<string>;

/** A queue of events for a client, with keep-alive comments in between. */
function eventQueue(): Readable {
  const queue = new Readable({ objectMode: true, read: () => undefined });
  const timer = setInterval(() => {
    if (queue.readableLength === 0) push(queue, () => [": still here\n\n"]);
  }, STILL_HERE_MS).unref();
  // Errors are thrown where the queue is read.
  return queue.once("close", () => clearInterval(timer)).on("error", () => undefined);
}

function push(queue: Readable, parts: EventParts): void {
  queue.push(parts);
}

function eventReply(queue: Readable): Reply {
  return {
    status: 200,
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    },
    body: chunksOfEvents(queue),
    release: async () => void queue.destroy(),
  };
}

async function* chunksOfEvents(
  queue: AsyncIterable<EventParts>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const parts of queue) for (const text of parts()) yield Buffer.from(text);
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * `GET /stream/URI`: the mementos of an original as server-sent events, as archives answer.
 *
 * `decided` lists every archive, whether and why it is queried; `mementos` has mementos of one of them;
 * `archive` is the outcome of querying it; `done` is the end.
 *
 * @param onEnd called once when all archives have answered.
 */
export function streamReply(
  aggregator: Aggregator,
  request: AggregateRequest,
  onEnd: () => void,
): Reply {
  const { uri: original } = request;
  const queue = eventQueue();
  aggregator
    .timeMap({
      ...request,
      onDecided: (decisions) =>
        push(queue, () => [
          eventText("decided", { original, archives: decisions.map(decisionJson) }),
        ]),
      onOutcome: (outcome, found) => push(queue, () => outcomeTexts(outcome, found)),
    })
    .then(
      ({ mementos, isWhole }) => {
        push(queue, () => [eventText("done", { mementos: mementos.count, isWhole })]);
        queue.push(null);
      },
      (error: unknown) => queue.destroy(asError(error)),
    )
    .finally(onEnd);
  return eventReply(queue);
}

function* outcomeTexts(
  outcome: Outcome,
  found: MementoList | undefined,
): Generator<string, void, undefined> {
  if (found !== undefined) {
    for (const chunk of chunksOf(found)) {
      yield eventText("mementos", { archive: outcome.archive.id, ...chunk });
    }
  }
  yield eventText("archive", outcomeJson(outcome));
}

function outcomeJson(outcome: Outcome): Record<string, unknown> {
  const { archive, result, mementos, startedAt, endedAt, origin, failure, fault, status } = outcome;
  const isPlain = origin === undefined || origin === "network";
  const refusal = result === "error" && status !== undefined ? `status ${status}` : null;
  return {
    archive: archive.id,
    result,
    mementos,
    ms: Math.round(endedAt - startedAt),
    origin: isPlain ? null : origin,
    failure: failure ?? null,
    detail: fault ?? refusal,
  };
}

/** Compact mementos: nearly all URIs of an archive differ only in the datetime they contain. */
interface MementoChunk {
  /** URIs in which `{}` stands for the datetime of a memento. */
  readonly patterns: readonly string[];
  /** Alternating: a datetime of fourteen digits, and the number of its pattern. */
  readonly rows: readonly number[];
}

/** Splits mementos into chunks that list the patterns they use. */
export function* chunksOf(mementos: MementoList): Generator<MementoChunk, void, undefined> {
  // TimeMaps may contain duplicates.
  const seen = new Set<string>();
  for (let start = 0; start < mementos.count; start += CHUNK) {
    const patterns = new Map<string, number>();
    const rows: number[] = [];
    for (let i = start; i < Math.min(mementos.count, start + CHUNK); i += 1) {
      const datetime = mementos.datetimeAt(i);
      // A URI that contains braces would be read as a pattern.
      const uri = mementos.uriAt(i).replaceAll("{}", "%7B%7D");
      const size = seen.size;
      if (seen.add(`${datetime} ${uri}`).size === size) continue;
      const pattern = uri.replace(String(datetime), "{}");
      const known = patterns.get(pattern) ?? patterns.size;
      patterns.set(pattern, known);
      rows.push(datetime, known);
    }
    yield { patterns: [...patterns.keys()], rows };
  }
}

/** Maximum queue length of a listener; a slower one is disconnected. */
const MAX_BEHIND = 10_000;

const TOO_MANY: Problem = { status: 503, title: "Too busy", detail: "too many listeners" };

/**
 * Sends the events of an aggregator to all listeners, as server-sent events with MemGator's members. A listener
 * receives the events of the process that it is connected to.
 *
 * Costs nothing without listeners.
 */
export class Monitor implements SessionObserver {
  readonly #listeners = new Set<Readable>();
  readonly #maxListeners: number;

  constructor(maxListeners: number = 100) {
    this.#maxListeners = maxListeners;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** A stream of events; 503 if there are too many listeners. */
  listen(): Reply {
    if (this.#listeners.size >= this.#maxListeners) return problemReply(TOO_MANY);
    const queue = eventQueue();
    queue.once("close", () => this.#listeners.delete(queue));
    push(queue, () => [": events of the aggregator\n\n"]);
    this.#listeners.add(queue);
    return eventReply(queue);
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
    for (const queue of this.#listeners) queue.push(null);
    this.#listeners.clear();
  }

  readonly #tell: TakeEvent = ({ id }, members) => {
    const text = `data: {"session": "${id}", ${members}}\n\n`;
    for (const queue of this.#listeners) {
      push(queue, () => [text]);
      if (queue.readableLength <= MAX_BEHIND) continue;
      this.#listeners.delete(queue);
      queue.destroy(new ClientFault("the listener does not keep up"));
    }
  };
}

/** `GET /monitor` */
export function monitorReply(monitor: Monitor | undefined): Reply {
  if (monitor !== undefined) return monitor.listen();
  const detail = "events are disabled; start the service with --monitor";
  return problemReply({ status: 501, title: "Not implemented", detail });
}
