import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import {
  type OpenAggregator,
  openAggregator,
  type OpenAggregatorOptions,
} from "../../src/aggregate/service/open-aggregator.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import type { Archive } from "../../src/aggregate/route/archive.ts";
import { AggregatorService } from "../../src/aggregate/service/aggregator-service.ts";
import type { AggregatorServiceOptions } from "../../src/aggregate/service/exchange.ts";
import { AggregatorMetrics } from "../../src/aggregate/service/aggregator-metrics.ts";
import { listen, type Listening, type ListenOptions } from "../../src/http/listen.ts";
import { type ScriptedServer, scriptedServer } from "./scripted-server.ts";
import { linkTimeMap } from "./scripted-upstream.ts";
import { archive } from "./sessions.ts";

/** A local test archive, and its requests. */
export interface LocalArchive extends ScriptedServer {
  readonly archive: Archive;
}

/** Starts an archive with scripted responses. */
export async function localArchive(
  id: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LocalArchive> {
  const server = await scriptedServer(answer);
  return { ...server, archive: archive(id, server.url) };
}

/** Starts an archive with mementos at these times for any URI, or without any. */
export function plainArchive(id: string, datetimes: readonly string[]): Promise<LocalArchive> {
  return localArchive(id, (request, response) => {
    const { url = "" } = request;
    const { host = "" } = request.headers;
    const [, kind = "", original = ""] =
      /^\/(timemap\/link|timegate|web\/\w+)\/(.*)$/.exec(url) ?? [];
    if (datetimes.length === 0) {
      response.writeHead(404).end();
    } else if (kind === "timemap/link") {
      response.writeHead(200, { "Content-Type": "application/link-format" });
      response.end(linkTimeMap(original, `http://${host}/web/`, datetimes));
    } else if (kind === "timegate") {
      const link = linkTimeMap(original, `http://${host}/web/`, datetimes).replaceAll("\n", " ");
      response.writeHead(302, { Link: link, Location: `/web/${datetimes[0]}/${original}` }).end();
    } else {
      response.writeHead(200, { "Content-Type": "text/plain", "Set-Cookie": "a=b", "X-Odd": "1" });
      response.end(`captured: ${url}`);
    }
  });
}

export interface Aggregating {
  readonly url: string;
  readonly open: OpenAggregator;
  readonly service: AggregatorService;
  readonly server: Listening;
}

/** Serves an aggregator of archives on a free local port until the test ends. */
export async function aggregating(
  archives: readonly LocalArchive[],
  options: {
    readonly aggregator?: Omit<OpenAggregatorOptions, "archives">;
    readonly service?: Partial<AggregatorServiceOptions>;
    readonly listen?: ListenOptions;
  } = {},
): Promise<Aggregating> {
  const list = archives.map((each) => each.archive);
  const metrics = new AggregatorMetrics();
  const open = await openAggregator({
    archives: list,
    sampleShare: 0,
    ...options.aggregator,
    aggregator: {
      ...options.aggregator?.aggregator,
      observers: [metrics, ...(options.aggregator?.aggregator?.observers ?? [])],
    },
  });
  const client = new NodeClient({ trustedOrigins: archives.map(({ url }) => url) });
  const service = new AggregatorService({
    open,
    client,
    metrics,
    ...options.service,
  });
  const server = await listen(service, { port: 0, ...options.listen });
  onTestFinished(async () => {
    await server.stop();
    client.close();
    await open.close();
  });
  return { url: server.url, open, service, server };
}
