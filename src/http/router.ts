import type { Reply } from "./reply.ts";

/** The content of a response; `schema` names one of the service's schemas. */
export interface Media {
  readonly type: string;
  readonly schema?: string | undefined;
}

type Params = Readonly<Record<string, string>>;

/** A row of the route table, used for matching, metrics, rate limits and documentation. */
export interface Route<Exchange> {
  readonly method: "GET" | "POST";
  /**
   * `/maps/{id}`; `{page:\d+}` is a segment matching that pattern, and `{*uri}` the raw rest of the target, including
   * `?`, never decoded.
   */
  readonly path: string;
  /** Whether the path ignores the prefix, like well-known URIs (RFC 8615); default false. */
  readonly isFixed?: true | undefined;
  /** The label in metrics and logs. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** Descriptions of the query parameters. */
  readonly query?: Params | undefined;
  /** Descriptions of the relevant request headers. */
  readonly headers?: Params | undefined;
  /** Replies by status; all others are problem documents (RFC 9457). */
  readonly replies: Readonly<Record<number, Media>>;
  /** Whether it is for monitoring: exempt from the rate limit, and also served on the monitoring port. */
  readonly isMonitoring?: true | undefined;
  /** Whether it is a page for browsers, omitted from the OpenAPI description. */
  readonly isPage?: true | undefined;
  readonly answer: (exchange: Exchange, params: Params) => Reply | Promise<Reply>;
}

/** The routes of a matched target. */
export interface Match<Exchange> {
  /** By method; HEAD is handled like GET. */
  readonly routes: ReadonlyMap<string, Route<Exchange>>;
  readonly params: Params;
  /** The methods of the path, for the `Allow` header. */
  readonly allow: string;
}

interface Path<Exchange> {
  readonly pattern: RegExp;
  readonly isFixed: boolean;
  readonly routes: Map<string, Route<Exchange>>;
}

/** Finds the routes of a target. Paths are compared as sent, never decoded. */
export class Router<Exchange> {
  readonly routes: readonly Route<Exchange>[];
  readonly #paths: Path<Exchange>[] = [];

  constructor(routes: readonly Route<Exchange>[]) {
    this.routes = routes;
    const paths = new Map<string, Path<Exchange>>();
    for (const route of routes) {
      const { path, method, isFixed = false } = route;
      const known = paths.get(path) ?? { pattern: patternOf(path), isFixed, routes: new Map() };
      known.routes.set(method, route);
      if (method === "GET") known.routes.set("HEAD", route);
      paths.set(path, known);
    }
    this.#paths = [...paths.values()];
  }

  /** @param target the path and the query, as sent. */
  match(target: string, prefix: string): Match<Exchange> | undefined {
    const rest = below(target, prefix);
    for (const { pattern, isFixed, routes } of this.#paths) {
      const text = isFixed ? target : rest;
      const found = text === undefined ? null : pattern.exec(text);
      if (found === null) continue;
      return {
        routes,
        params: found.groups ?? {},
        allow: [...routes.keys(), "OPTIONS"].join(", "),
      };
    }
    return undefined;
  }

  /** For a hint: paths with a raw rest that share the first segment of an unmatched target. */
  similar(target: string, prefix: string): string[] {
    const segment = /^\/[^/?]+/.exec(below(target, prefix) ?? "")?.[0];
    return this.routes
      .filter(({ path, isPage }) => isPage !== true && path.includes("{*"))
      .filter(({ path }) => path.startsWith(`${segment}/`))
      .map(({ path }) => plainPath(path));
  }
}

function below(target: string, prefix: string): string | undefined {
  if (!target.startsWith(prefix)) return undefined;
  const rest = target.slice(prefix.length);
  return rest === "" || rest.startsWith("?") ? `/${rest}` : rest;
}

const PARAMETER = /\{(\*?)(\w+)(?::((?:[^{}]|\{[^{}]*\})+))?\}/g;

/** The parameters of a path, in order. */
export function parametersOf(
  path: string,
): { readonly name: string; readonly isRaw: boolean; readonly pattern: string | undefined }[] {
  return Array.from(path.matchAll(PARAMETER), ([, raw, name, pattern]) => ({
    name,
    isRaw: raw !== "",
    pattern,
  }));
}

/** The path for documentation: `/timemap/{format}/{uri}`. */
export function plainPath(path: string): string {
  return path.replaceAll(PARAMETER, "{$2}");
}

/** Matches in linear time: each parameter ends at a slash, except a final raw rest. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll(/\.(?![^{]*\})/g, String.raw`\.`)
    .replaceAll(PARAMETER, (_all, raw: string, name: string, pattern: string | undefined) =>
      raw === "" ? `(?<${name}>${pattern ?? "[^/?]+"})` : `(?<${name}>.+)`,
    );
  return new RegExp(path.includes("{*") ? `^${source}$` : String.raw`^${source}(?:\?.*)?$`, "s");
}
