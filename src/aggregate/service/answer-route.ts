import type { Upstream } from "../upstream.ts";
import { decisionJson } from "../route/decision-json.ts";
import type { Router, RouteRequest } from "../route/decision.ts";
import { surt } from "../../surt/surt.ts";
import {
  type AggregatorExchange,
  type AnswerStyle,
  commonHeaders,
  sendBody,
} from "./aggregator-exchange.ts";
import type { ServiceStatus } from "./service-status.ts";

/** `GET /route/URI`: which archives would be asked, which not, and why. Asks none of them. */
export function answerRoute(
  exchange: AggregatorExchange,
  request: RouteRequest,
  {
    router,
    upstream,
    status,
    style,
  }: {
    readonly router: Router;
    readonly upstream: Upstream;
    readonly status: ServiceStatus;
    readonly style: AnswerStyle;
  },
): void {
  const decisions = router.route(request);
  const { saved, missRate, recall } = status.routing();
  const answer = {
    original_uri: request.uri,
    surt: surt(request.uri),
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map((decision) => ({
      ...decisionJson(decision),
      health: upstream.stateOf(decision.archive).health,
    })),
    estimates: { saved, missRate: missRate ?? null, recall: recall ?? null },
  };
  const headers = commonHeaders(style);
  headers.push("Cache-Control", "no-cache");
  const text = `${JSON.stringify(answer, undefined, 2)}\n`;
  sendBody(exchange, 200, headers, "application/json", text);
}
