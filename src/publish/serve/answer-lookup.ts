import type { ServerResponse } from "node:http";
import { isMementoMapError } from "../../errors.ts";
import type { Answer } from "../../map/lookup/lookup.ts";
import { parseDatetimeKey } from "../../ukvs/record.ts";
import { archiveOf, type Exchange, sendText } from "./site.ts";
import type { HostedMap, MapVersion } from "./hosted-map.ts";
import { badRequest, notFound, type Problem, sendProblem, writeBlock } from "../../http/send.ts";
import { type LookupQuery, lookupQuery } from "../../http/target.ts";
import { lineBatches } from "../../bytes/lines.ts";
import {
  answerJson,
  answerLine,
  AnswerWriter,
  BlockWriter,
} from "../../map/lookup/answer-lines.ts";
import type { MemoryIndex } from "../../map/lookup/memory-index.ts";
import { decompressed } from "../../files/decompress.ts";

/** `GET /lookup?url=URI`: what the maps say about one URI, as JSON. */
export function lookup(exchange: Exchange): void | Promise<void> {
  exchange.route = "lookup";
  const { site, metrics, response, isHead } = exchange;
  const query = lookupQuery(exchange.query);
  const problem = faultOf(query, exchange);
  if (problem !== undefined) {
    sendProblem(response, problem, isHead);
    return;
  }
  const url = query.url ?? "";
  const maps = query.map === undefined ? site.maps : site.maps.filter(({ id }) => id === query.map);
  metrics.lookups.inc();
  const [map] = maps;
  if (maps.length === 1 && map.current.index !== undefined) {
    const answer = map.current.answer(url, query);
    if (!(answer instanceof Promise)) {
      sendAnswers(exchange, url, [{ map, answer }]);
      return;
    }
  }
  return askAll(maps, url, query).then((answers) => {
    sendAnswers(exchange, url, answers);
  });
}

/** What is wrong with the query of a lookup or a batch; the URI is looked at for lookups only. */
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

function askAll(maps: readonly HostedMap[], url: string, query: LookupQuery): Promise<MapAnswer[]> {
  return Promise.all(
    maps.map((map) =>
      map.with(async (version) => ({ map, answer: await version.answer(url, query) })),
    ),
  );
}

function sendAnswers(exchange: Exchange, url: string, answers: readonly MapAnswer[]): void {
  const { present, key = null, frequency = null, distance = null } = deciding(answers);
  const body = {
    input: url,
    present,
    key,
    frequency,
    distance,
    ...(exchange.site.maps.length === 1 ? {} : { answers: answers.map(described) }),
  };
  sendText(exchange, "application/json", `${JSON.stringify(body)}\n`, {
    "Cache-Control": "public, max-age=60",
  });
}

/** Of several answers that which says most: present before absent, near before far. */
function deciding(answers: readonly MapAnswer[]): Answer {
  return answers
    .map(({ answer }) => answer)
    .reduce((best, next) => (saysMore(next, best) ? next : best));
}

function saysMore(a: Answer, b: Answer): boolean {
  if (a.present !== b.present) return a.present;
  return (a.distance ?? Infinity) < (b.distance ?? Infinity);
}

function described({ map, answer }: MapAnswer): Record<string, unknown> {
  const { present, key = null, frequency = null, distance = null } = answer;
  return { map: map.id, archive: archiveOf(map) ?? null, present, key, frequency, distance };
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * `POST /lookup`: a URI a line, answered with a line each, while the request is still coming in.
 *
 * Holds one chunk of the request and one block of answers, however long the batch is. Answers are
 * sent no later than the end of the lines that came together.
 */
export async function batch(exchange: Exchange): Promise<void> {
  exchange.route = "batch";
  const { request, response, site, limits } = exchange;
  const query = lookupQuery(exchange.query);
  const problem = faultOf(query, exchange);
  const map = query.map === undefined ? site.maps[0] : site.map(query.map);
  if (problem !== undefined || map === undefined) {
    sendProblem(response, problem ?? notFound("there is no map"), false);
    return;
  }
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.maxBatchBytes) {
    sendProblem(response, tooLarge(limits.maxBatchBytes), false);
    return;
  }
  const isJson = /\bjson\b|ndjson|jsonl/.test(request.headers.accept ?? "");
  await map.with(async (version) => {
    const { limits: most, metrics } = exchange;
    response.statusCode = 200;
    response.setHeader(
      "Content-Type",
      isJson ? "application/x-ndjson" : "text/tab-separated-values; charset=utf-8",
    );
    response.setHeader("Cache-Control", "no-store");
    const chunks = decompressed(request, {
      source: "the batch",
      maxDecompressedBytes: most.maxBatchBytes,
    });
    const lines = lineBatches(chunks, { source: "the batch", maxLineBytes: most.maxUriBytes });
    const count = (lookups: number): void => {
      metrics.lookups.inc(lookups);
    };
    try {
      await (version.index === undefined || isJson || query.at !== undefined
        ? answerText({ lines, version, response, query, isJson, count })
        : answerBytes({ lines, index: version.index, response, query, count }));
      response.end();
    } catch (error) {
      if (!isMementoMapError(error)) throw error;
      refuse(exchange, error.code === "MM_LIMIT" ? 413 : 400, error.message);
    }
  });
}

interface Reply {
  readonly lines: ReturnType<typeof lineBatches>;
  readonly response: ServerResponse;
  readonly query: LookupQuery;
  readonly count: (lookups: number) => void;
}

async function answerBytes(reply: Reply & { readonly index: MemoryIndex }): Promise<void> {
  const out = new BlockWriter({ write: (block) => flushed(reply.response, block) });
  const answers = new AnswerWriter(reply.index, out, reply.query);
  for await (const { bytes, starts, ends, count } of reply.lines) {
    if (reply.response.destroyed) return;
    let asked = 0;
    answers.startBatch(bytes);
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      asked += 1;
      const sent = answers.write(bytes, starts[line], ends[line]);
      if (sent !== undefined) await sent;
    }
    await out.flush();
    reply.count(asked);
  }
}

async function answerText(
  reply: Reply & { readonly version: MapVersion; readonly isJson: boolean },
): Promise<void> {
  const { version, query, isJson, response } = reply;
  const format = isJson ? answerJson : answerLine;
  for await (const { bytes, starts, ends, count } of reply.lines) {
    let text = "";
    let asked = 0;
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const input = decoder.decode(bytes.subarray(starts[line], ends[line]));
      asked += 1;
      const answer = version.answer(input, query);
      text += `${format(input, answer instanceof Promise ? await answer : answer)}\n`;
    }
    if (text !== "" && !(await writeBlock(response, encoder.encode(text)))) return;
    reply.count(asked);
  }
}

/** The block is used again as soon as this returns, so it must have left the process. */
function flushed(response: ServerResponse, block: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) {
      resolve();
      return;
    }
    // The reader may go away; the loop over the lines notices.
    response.once("close", resolve);
    response.write(block, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}

function tooLarge(most: number): Problem {
  return {
    status: 413,
    title: "Batch too large",
    detail: `a batch may have ${most} bytes; send several`,
  };
}

/** Says no, or cuts the connection where answers were sent already. */
function refuse(exchange: Exchange, status: number, detail: string): void {
  const { response } = exchange;
  if (!response.headersSent) {
    response.removeHeader("Content-Type");
    response.setHeader("Connection", "close");
  }
  sendProblem(response, { status, title: "Batch refused", detail }, false);
}
