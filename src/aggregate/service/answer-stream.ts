import type { AggregateRequest, Aggregator } from "../aggregator.ts";
import type { MementoList } from "../../memento/memento-list.ts";
import { decisionJson } from "../route/decision.ts";
import type { Outcome } from "../session.ts";
import { type AggregatorExchange, commonHeaders } from "./aggregator-exchange.ts";

/** Mementos of one event; a browser shows the first while others come. */
const CHUNK = 5000;

/** Connections on which nothing comes are cut. */
const STILL_HERE_MS = 15_000;

/**
 * `GET /stream/URI`: the mementos of an original as server-sent events, as archives answer.
 *
 * `decided` names every archive, and whether and why it is asked; `mementos` has mementos of one of
 * them; `archive` says what became of asking it; `done` is the end.
 */
export async function answerStream(
  exchange: AggregatorExchange,
  aggregator: Aggregator,
  request: AggregateRequest,
): Promise<void> {
  const { response, isHead } = exchange;
  const headers = commonHeaders(exchange);
  headers.push("Content-Type", "text/event-stream", "Cache-Control", "no-store");
  headers.push("X-Accel-Buffering", "no");
  response.writeHead(200, headers);
  if (isHead) {
    response.end();
    return;
  }
  const send = (event: string, data: unknown): void => {
    if (!response.destroyed) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const timer = setInterval(() => response.write(": still here\n\n"), STILL_HERE_MS);
  try {
    const { mementos, isWhole } = await aggregator.timeMap({
      ...request,
      onDecided: (decisions) =>
        send("decided", { original: request.uri, archives: decisions.map(decisionJson) }),
      onOutcome(outcome, found) {
        if (found !== undefined)
          for (const each of chunksOf(found))
            send("mementos", { archive: outcome.archive.id, ...each });
        send("archive", outcomeJson(outcome));
      },
    });
    send("done", { mementos: mementos.count, isWhole });
  } finally {
    clearInterval(timer);
  }
  response.end();
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

/** Mementos in short: nearly all URIs of an archive differ only in the datetime they contain. */
interface MementoChunk {
  /** URIs in which `{}` stands for the datetime of a memento. */
  readonly patterns: readonly string[];
  /** A datetime of fourteen digits, the number of its pattern, and so on. */
  readonly rows: readonly number[];
}

/** Cuts mementos into parts that name the patterns they use. */
export function* chunksOf(mementos: MementoList): Generator<MementoChunk, void, undefined> {
  // TimeMaps may name a memento twice.
  const seen = new Set<string>();
  for (let start = 0; start < mementos.count; start += CHUNK) {
    const patterns = new Map<string, number>();
    const rows: number[] = [];
    for (let i = start; i < Math.min(mementos.count, start + CHUNK); i += 1) {
      const datetime = mementos.datetimeAt(i);
      // A URI that has braces itself would be read as a pattern.
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
