import { packageVersion } from "../../files/package-file.ts";
import { type Exchange, sendText } from "./exchange.ts";
import { openApiDocument } from "./openapi-document.ts";

/** `GET /openapi.json`: the interface, for programs that make clients. */
export function openApi(exchange: Exchange): void {
  exchange.route = "openapi";
  const document = openApiDocument({
    version: packageVersion(),
    prefix: exchange.client.prefix,
    limits: exchange.limits,
  });
  sendText(exchange, "application/json", `${JSON.stringify(document, undefined, 2)}\n`, {
    "Cache-Control": "public, max-age=3600",
  });
}
