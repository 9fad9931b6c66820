import type { Reply } from "./reply.ts";

/** What a response has, by media type; `schema` is the name of one of the service's schemas. */
export interface Media {
  readonly type: string;
  readonly schema?: string | undefined;
}

type Params = Readonly<Record<string, string>>;

/** A row of the table that requests are matched, counted, limited and documented by. */
export interface Route<Exchange> {
  readonly method: "GET" | "POST";
  /**
   * `/maps/{id}`; `{page:\d+}` is a segment of that pattern, and `{*uri}` the raw rest of the target,
   * with its `?`, never decoded.
   */
  readonly path: string;
  /** Whether the path is the same below any prefix, as those of RFC 8615 are; default false. */
  readonly isFixed?: true | undefined;
  /** The label in metrics and logs. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** The parameters of the query, and what each means. */
  readonly query?: Params | undefined;
  /** The headers of a request that matter, and what each means. */
  readonly headers?: Params | undefined;
  /** Replies by status; problem documents (RFC 9457) are the rest. */
  readonly replies: Readonly<Record<number, Media>>;
  /** Whether it is for monitoring: not counted by the rate limit, and on the monitoring port, too. */
  readonly isMonitoring?: true | undefined;
  /** Whether it is for browsers and stays out of the description of the interface. */
  readonly isPage?: true | undefined;
  readonly answer: (exchange: Exchange, params: Params) => Reply | Promise<Reply>;
}

/** What a target matched. */
export interface Match<Exchange> {
  /** By method; HEAD is answered as GET is. */
  readonly routes: ReadonlyMap<string, Route<Exchange>>;
  readonly params: Params;
  /** The methods of the path, for `Allow`. */
  readonly allow: string;
}

interface Path<Exchange> {
  readonly pattern: RegExp;
  readonly isFixed: boolean;
  readonly routes: Map<string, Route<Exchange>>;
}

/** Finds the routes of a target in a table. Paths are compared as they were sent, never decoded. */
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

  /** The paths with a raw rest that begin as a target does that matches none of them, for a hint. */
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

/** The parameters of a path, in their order. */
export function parametersOf(
  path: string,
): { readonly name: string; readonly isRaw: boolean; readonly pattern: string | undefined }[] {
  return Array.from(path.matchAll(PARAMETER), ([, raw, name, pattern]) => ({
    name,
    isRaw: raw !== "",
    pattern,
  }));
}

/** `/timemap/{format}/{uri}`: a path as people read it. */
export function plainPath(path: string): string {
  return path.replaceAll(PARAMETER, "{$2}");
}

/** Matches in linear time: each parameter but the last, which takes the rest, ends at a slash. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll(/\.(?![^{]*\})/g, String.raw`\.`)
    .replaceAll(PARAMETER, (_all, raw: string, name: string, pattern: string | undefined) =>
      raw === "" ? `(?<${name}>${pattern ?? "[^/?]+"})` : `(?<${name}>.+)`,
    );
  return new RegExp(path.includes("{*") ? `^${source}$` : String.raw`^${source}(?:\?.*)?$`, "s");
}
