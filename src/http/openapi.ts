import { type Media, parametersOf, plainPath, type Route } from "./router.ts";
import { type Reply, textReply } from "./reply.ts";
import { packageVersion } from "../files/package-file.ts";

export interface OpenApiOptions {
  readonly title: string;
  readonly description: string;
  /** The path prefix of the service. */
  readonly prefix: string;
  /** JSON Schemas by the name used in replies. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** The OpenAPI 3.1 description of a route table, for client generators. */
export function openApiReply(routes: readonly Route<never>[], options: OpenApiOptions): Reply {
  const document = openApiDocument(routes, options);
  return textReply("application/json", `${JSON.stringify(document, undefined, 2)}\n`, {
    "Cache-Control": "public, max-age=3600",
  });
}

export function openApiDocument(
  routes: readonly Route<never>[],
  { prefix, schemas, ...about }: OpenApiOptions,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    if (route.isPage === true) continue;
    const path = (route.isFixed === true ? "" : prefix) + plainPath(route.path);
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  const info = { ...about, version: packageVersion() };
  return { openapi: "3.1.0", info, paths, components: { schemas } };
}

function operation({
  path,
  summary,
  description,
  query = {},
  headers = {},
  replies,
}: Route<never>): object {
  const inPath = parametersOf(path).map(({ name, isRaw, pattern }) => ({
    name,
    in: "path",
    required: true,
    ...(isRaw ? { allowReserved: true } : {}),
    schema: { type: "string", ...(pattern === undefined ? {} : { pattern: `^(?:${pattern})$` }) },
  }));
  const problem = { "application/problem+json": {} };
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: [...inPath, ...named("query", query), ...named("header", headers)],
    responses: {
      ...Object.fromEntries(
        Object.entries(replies).map(([status, media]) => [status, reply(media)]),
      ),
      default: { description: "A problem document (RFC 9457)", content: problem },
    },
  };
}

function named(where: "query" | "header", all: Readonly<Record<string, string>>): object[] {
  return Object.entries(all).map(([name, meaning]) => ({
    name,
    in: where,
    description: meaning,
    schema: { type: "string" },
  }));
}

function reply({ type, schema }: Media): object {
  const content =
    schema === undefined ? {} : { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description: type, content: { [type]: content } };
}
