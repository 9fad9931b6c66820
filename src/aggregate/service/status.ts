import { type Reply, textReply } from "../../http/reply.ts";
import { wantsPage } from "../../page/app-page.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { decisionJson } from "../route/decision.ts";
import { aboutDocument, aboutText, historyDocument } from "./about.ts";
import type { Exchange } from "./exchange.ts";
import { serviceHealth } from "./health.ts";
import { page } from "./page.ts";
import type { LookupRequest } from "./request.ts";

/** `GET /about`: a page for browsers, JSON for who asks for it, and MemGator's text for all others. */
export function about(exchange: Exchange): Reply | Promise<Reply> {
  const { accept = "" } = exchange.request.headers;
  if (wantsPage(exchange)) return page(exchange);
  if (/\bjson\b/.test(accept)) return aboutJson(exchange);
  const headers = { Vary: "Accept", "Cache-Control": "no-cache" };
  return textReply("text/plain; charset=utf-8", aboutText(exchange), headers);
}

export function aboutJson(exchange: Exchange): Reply {
  return jsonReply({ ...aboutDocument(exchange), ...loadOf(exchange) }, "no-cache");
}

/** Many numbers, so not a line for each. */
export function history(exchange: Exchange): Reply {
  const text = `${JSON.stringify(historyDocument(exchange))}\n`;
  return textReply("application/json", text, { "Cache-Control": "no-cache" });
}

/** The list of archives as MemGator reads it, so that another aggregator can use it. */
export function archives({ options: { open } }: Exchange): Reply {
  const list = open.aggregator.router.archives.map(
    ({ id, name, timemap, timegate, probability }) => ({
      id,
      name,
      timemap,
      timegate,
      probability,
    }),
  );
  return jsonReply(list, "public, max-age=3600");
}

export function health(exchange: Exchange): Reply {
  const report = serviceHealth(exchange.options);
  const code = report.status === "failing" ? 503 : 200;
  return { ...jsonReply({ ...report, ...loadOf(exchange) }, "no-store"), status: code };
}

/** The text format of Prometheus, of all processes. */
export async function metrics({ metrics: own, options: { processes } }: Exchange): Promise<Reply> {
  const text = await (processes ?? own).text();
  return textReply(own.contentType, text, { "Cache-Control": "no-store" });
}

/** `GET /route/URI`: which archives would be asked, which not, and why. Asks none of them. */
export function route(
  { options, metrics: { lookups } }: Exchange,
  { request }: LookupRequest,
): Reply {
  lookups.inc();
  const { aggregator, estimate } = options.open;
  const decisions = aggregator.router.route({ ...request, isPreview: true });
  const { saved, missRate = null, recall = null } = estimate.report();
  const answer = {
    original_uri: request.uri,
    surt: surt(request.uri),
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map((decision) => ({
      ...decisionJson(decision),
      health: aggregator.upstream.stateOf(decision.archive).health,
    })),
    estimates: { saved, missRate, recall },
  };
  return jsonReply(answer, "no-cache");
}

function jsonReply(value: unknown, cacheControl: string): Reply {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  return textReply("application/json", text, { "Cache-Control": cacheControl });
}

function loadOf({ metrics: { lookupsInProgress }, options }: Exchange): object {
  return {
    requests: { inProgress: lookupsInProgress },
    workers: options.processes?.counts,
  };
}
