import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../../http/log.ts";
import type { Metrics, RouteName } from "../../http/metrics.ts";
import type { Site } from "./site.ts";
import type { PublisherLimits } from "../../http/limits.ts";
import type { ClientView } from "./trusted-proxies.ts";

/** A request that is being answered, and what is needed for it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isHead: boolean;
  /** How the client sees the site. */
  readonly client: ClientView;
  readonly path: string;
  readonly query: string;
  readonly site: Site;
  readonly metrics: Metrics;
  readonly limits: PublisherLimits;
  readonly log: Log;
  /** The value of `Cache-Control` for maps and pages. */
  readonly cacheControl: string;
  /** What the request is counted as. */
  route: RouteName;
}

/** Answers with a text of known length. */
export function sendText(
  { response, isHead }: Exchange,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, {
    "Content-Type": contentType,
    "Content-Length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(isHead ? undefined : text);
}
