import { setImmediate } from "node:timers/promises";
import { isMementoMapError, type MementoMapError } from "../../errors.ts";
import { type Answer, answerJson, lookupPeriod } from "../../lookup/map-lookup.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import { archiveOf, type Exchange } from "./site.ts";
import type { HostedMap } from "./hosted-map.ts";
import type { MapVersion } from "./map-version.ts";
import {
  badRequest,
  ClientFault,
  notFound,
  type Problem,
  problemReply,
  type Reply,
  textReply,
} from "../../http/reply.ts";
import { type LookupQuery, lookupQuery } from "../../http/target.ts";
import { type LineBatch, lineBatches } from "../../bytes/lines.ts";
import { BatchAnswers } from "../../lookup/batch.ts";
import { decompressed } from "../../files/decompress.ts";

/** `GET /lookup?url=URI`: the answers of the maps about one URI, as JSON. */
export async function lookup(exchange: Exchange): Promise<Reply> {
  const { site, metrics } = exchange;
  const query = lookupQuery(exchange.query);
  const problem = faultOf(query, exchange);
  if (problem !== undefined) return problemReply(problem);
  const url = query.url ?? "";
  const maps = query.map === undefined ? site.maps : site.maps.filter(({ id }) => id === query.map);
  metrics.lookups.inc();
  const answers = await Promise.all(
    maps.map((map) =>
      map.with(async (version) => ({ map, answer: await version.answer(url, query) })),
    ),
  );
  const { answer } = answers.reduce((best, next) =>
    isBetter(next.answer, best.answer) ? next : best,
  );
  const body = {
    input: url,
    ...answerToJson(answer),
    ...(site.maps.length === 1 ? {} : { answers: answers.map(mapAnswerToJson) }),
  };
  return textReply("application/json", `${JSON.stringify(body)}\n`, {
    "Cache-Control": "public, max-age=60",
  });
}

/** Checks the query of a lookup or a batch; only lookups require a URI. */
function faultOf(query: LookupQuery, exchange: Exchange): Problem | undefined {
  if (query.url === undefined && exchange.request.method !== "POST") {
    return badRequest("name the URI to look up: /lookup?url=https://example.org/");
  }
  if (query.map !== undefined && exchange.site.map(query.map) === undefined) {
    return notFound("there is no map of this name");
  }
  if (query.at !== undefined && !isTime(query.at)) {
    return badRequest("at= takes 4 to 14 digits of YYYYMMDDhhmmss");
  }
  return undefined;
}

function isTime(text: string): boolean {
  try {
    return parseDatetimeKey(text).from === text;
  } catch (error) {
    if (isMementoMapError(error)) return false;
    throw error;
  }
}

interface MapAnswer {
  readonly map: HostedMap;
  readonly answer: Answer;
}

/** Whether `a` is more informative: present before absent, near before far. */
function isBetter(a: Answer, b: Answer): boolean {
  if (a.present !== b.present) return a.present;
  return (a.distance ?? Infinity) < (b.distance ?? Infinity);
}

function mapAnswerToJson({ map, answer }: MapAnswer): Record<string, unknown> {
  return { map: map.id, archive: archiveOf(map) ?? null, ...answerToJson(answer) };
}

/** Unknown values are null. */
function answerToJson(answer: Answer): Record<string, unknown> {
  const { present, key = null, frequency = null, distance = null } = answer;
  return { present, key, frequency, distance };
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * `POST /lookup`: one URI per line, one answer per line, streamed while the request arrives.
 *
 * Holds one chunk of the request and its answers, however long the batch is. Answers are sent no
 * later than the end of the chunk of lines.
 */
export async function batch(exchange: Exchange): Promise<Reply> {
  const { request, site, limits } = exchange;
  const query = lookupQuery(exchange.query);
  const problem = faultOf(query, exchange);
  const map = query.map === undefined ? site.maps[0] : site.map(query.map);
  if (problem !== undefined || map === undefined) {
    return problemReply(problem ?? notFound("there is no map"));
  }
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBatchBytes) return problemReply(tooLarge(limits.maxBatchBytes));
  const isJson = /\bjson\b|ndjson|jsonl/.test(request.headers.accept ?? "");
  const version = map.current.retain();
  const blocks = answerBlocks(exchange, version, query, isJson);
  try {
    // An error before the first answer is sent has its own status.
    const first = await blocks.next();
    const type = isJson ? "application/x-ndjson" : "text/tab-separated-values; charset=utf-8";
    const headers = { "Content-Type": type, "Cache-Control": "no-store" };
    if (first.done !== true) {
      const body = withFirst(first.value, blocks);
      return { status: 200, headers, body, release: () => version.release() };
    }
    await version.release();
    return { status: 200, headers: { ...headers, "Content-Length": "0" } };
  } catch (error) {
    await version.release();
    if (!isMementoMapError(error)) throw error;
    return refusal(error);
  }
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield first;
    yield* rest;
  } catch (error) {
    throw isMementoMapError(error) ? new ClientFault(error.message, { cause: error }) : error;
  } finally {
    await rest.return();
  }
}

async function* answerBlocks(
  { request, limits, metrics }: Exchange,
  version: MapVersion,
  query: LookupQuery,
  isJson: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = "the batch";
  const maxDecompressedBytes = limits.maxBatchBytes;
  const chunks = decompressed(request.body(), { source, maxDecompressedBytes });
  const answer = isJson ? jsonAnswers(version, query) : textAnswers(version, query);
  const lines = lineBatches(chunks, { source, maxLineBytes: limits.maxUriBytes });
  for await (const batch of inParts(lines)) {
    const { blocks, lookups } = await answer(batch);
    metrics.lookups.inc(lookups);
    yield* blocks;
  }
}

/** Limit on lines answered before other requests get a turn. */
const MAX_LINES = 1000;

async function* inParts(
  batches: AsyncIterable<LineBatch>,
): AsyncGenerator<LineBatch, void, undefined> {
  for await (const batch of batches) {
    for (let from = 0; from < batch.count; from += MAX_LINES) {
      const until = Math.min(batch.count, from + MAX_LINES);
      yield {
        ...batch,
        starts: batch.starts.subarray(from, until),
        ends: batch.ends.subarray(from, until),
        count: until - from,
        firstLine: batch.firstLine + from,
      };
      await setImmediate();
    }
  }
}

/** Answers a batch of lines. */
type AnswerLines = (
  lines: LineBatch,
) => Promise<{ readonly blocks: readonly Uint8Array[]; readonly lookups: number }>;

function textAnswers(version: MapVersion, { isSurt, at }: LookupQuery): AnswerLines {
  const blocks: Uint8Array[] = [];
  const sink = { write: (block: Uint8Array) => void blocks.push(block.slice()) };
  const answers = new BatchAnswers(version.source, sink, { isSurt, period: lookupPeriod(at) });
  return async (lines) => {
    const before = answers.askedCount;
    await answers.writeLines(lines);
    await answers.flush();
    return { blocks: blocks.splice(0), lookups: answers.askedCount - before };
  };
}

function jsonAnswers(version: MapVersion, query: LookupQuery): AnswerLines {
  return async ({ bytes, starts, ends, count }) => {
    const answers: string[] = [];
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const input = decoder.decode(bytes.subarray(starts[line], ends[line]));
      const answer = version.answer(input, query);
      answers.push(`${answerJson(input, answer instanceof Promise ? await answer : answer)}\n`);
    }
    const blocks = answers.length === 0 ? [] : [encoder.encode(answers.join(""))];
    return { blocks, lookups: answers.length };
  };
}

function tooLarge(maxBytes: number): Problem {
  const detail = `the batch exceeds ${maxBytes} bytes; split it`;
  return { status: 413, title: "Batch too large", detail };
}

/** The rest of the batch is not read, so the connection cannot be reused. */
function refusal({ code, message: detail }: MementoMapError): Reply {
  const status = code === "MM_LIMIT" ? 413 : 400;
  const reply = problemReply({ status, title: "Batch refused", detail });
  return { ...reply, closesConnection: true };
}
