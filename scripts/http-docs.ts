import { AGGREGATOR_ROUTES } from "../src/aggregate/service/aggregator-service.ts";
import { ROUTES as PUBLISHER_ROUTES } from "../src/publish/serve/routes.ts";
import { plainPath, type Route } from "../src/http/router.ts";

/** Renders `docs/http.md` from the route tables. */
export function httpDocs(): string {
  return `<!-- Generated from the route tables by scripts/write-docs.ts; do not edit. -->

# HTTP interface

All endpoints of both services. HEAD is supported wherever GET is. Errors are problem documents (RFC 9457), and
\`/openapi.json\` has a machine-readable description. \`{uri}\` is the raw rest of the request target, with its query.

## mementomap serve

See [publishing.md](publishing.md).

${table(PUBLISHER_ROUTES)}

## mementomap aggregate --serve

See [aggregating.md](aggregating.md). Each path of \`/memento/\` is also available below \`/api/\`.

${table(AGGREGATOR_ROUTES)}
`;
}

function table(routes: readonly Route<never>[]): string {
  const rows = routes
    .filter(({ isPage }) => isPage !== true)
    .map(({ method, path, summary, query = {}, replies }) => {
      const parameters = Object.keys(query).map((name) => `\`${name}\``);
      const kinds = Object.entries(replies).map(([status, { type }]) =>
        status.startsWith("2") ? type : `${status} ${type}`,
      );
      const cells = [`\`${method} ${plainPath(path)}\``, summary, parameters.join(", ")];
      return `| ${[...cells, [...new Set(kinds)].join(", ")].join(" | ")} |`;
    });
  return ["| endpoint | returns | query | media type |", "|---|---|---|---|", ...rows].join("\n");
}
