import type { ServerResponse } from "node:http";
import { lineBatches } from "../../bytes/lines.ts";
import { isMementoMapError } from "../../errors.ts";
import { answerJson, answerLine, AnswerWriter } from "../../map/lookup/answer-lines.ts";
import { BlockWriter } from "../../map/lookup/block-writer.ts";
import type { MemoryIndex } from "../../map/lookup/memory-index.ts";
import { decompressed } from "../../files/decompress.ts";
import type { Exchange } from "./exchange.ts";
import type { MapVersion } from "./map-version.ts";
import { notFound, sendProblem } from "../../http/problem.ts";
import { writeBlock } from "../../http/send.ts";
import { type LookupQuery, lookupQuery } from "../../http/target.ts";
import { faultOf } from "./answer-lookup.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * `POST /lookup`: a URI a line, answered with a line each, while the request is still coming in.
 *
 * Holds one chunk of the request and one block of answers, however long the batch is. Answers are
 * sent at the latest when the lines that came together are worked off.
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

type Lines = ReturnType<typeof lineBatches>;

interface Reply {
  readonly lines: Lines;
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
  const { at, isSurt } = query;
  const { index, lookup } = version;
  const format = isJson ? answerJson : answerLine;
  for await (const { bytes, starts, ends, count } of reply.lines) {
    let text = "";
    let asked = 0;
    for (let line = 0; line < count; line += 1) {
      if (starts[line] === ends[line]) continue;
      const input = decoder.decode(bytes.subarray(starts[line], ends[line]));
      asked += 1;
      const known = isSurt
        ? index?.lookupSurtSync(input, { at })
        : index?.lookupSync(input, { at });
      const answer =
        known ?? (await (isSurt ? lookup.lookupSurt(input, { at }) : lookup.lookup(input, { at })));
      text += `${format(input, answer)}\n`;
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

function tooLarge(most: number): { status: number; title: string; detail: string } {
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
