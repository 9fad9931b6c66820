import type { Answer } from "./aggregators.ts";
import type { Request } from "./memgator-requests.ts";

/** A way in which ours answers otherwise, and why. */
export interface Difference extends Request {
  /** As the table of docs/aggregating.md names it. */
  readonly name: string;
  readonly why: string;
  /** What of the answer differs. */
  see(answer: Answer): unknown;
  readonly memGator: unknown;
  readonly ours: unknown;
}

const statusOf = ({ status }: Answer): number => status;
const typeOf = ({ headers }: Answer): string | undefined => headers.get("content-type");
const countOf = ({ headers }: Answer): string | undefined => headers.get("x-memento-count");
const pathOf = ({ headers }: Answer): string | undefined =>
  headers.get("location")?.replace(/^http:\/\/[^/]*/, "");
const firstLineOf = ({ body }: Answer): string => body.slice(0, body.indexOf("\n"));
const mementoPathOf = ({ body }: Answer): string | undefined =>
  /<http:\/\/[^/]*(\/m\/[^>]*)>/.exec(body)?.[1];
const isJson = ({ body }: Answer): boolean => {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
};

export const DIFFERENCES: readonly Difference[] = [
  {
    name: "`%2F` etc. in the original",
    why: "MemGator decodes the original, so that it asks for another one: %2F is not a slash",
    target: "/timemap/link/http://example.org/x%2Fy",
    see: firstLineOf,
    memGator: `<http://example.org/x/y>; rel="original",`,
    ours: `<http://example.org/x%2Fy>; rel="original",`,
  },
  {
    name: "`%zz` in the original",
    why: "such originals exist and are archived; MemGator refuses them",
    target: "/timemap/link/http://example.org/%zz",
    see: statusOf,
    memGator: 400,
    ours: 404,
  },
  {
    name: "`HTTP://…`",
    why: "schemes have no case (RFC 3986); MemGator asks for http://HTTP://example.org/",
    target: "/timemap/link/HTTP://example.org/",
    see: statusOf,
    memGator: 404,
    ours: 200,
  },
  {
    name: "`;` in the URI of a memento",
    why: "MemGator cuts the URI off there, and the link leads nowhere",
    target: "/timemap/link/http://example.org/semicolon",
    see: mementoPathOf,
    memGator: "/m/a",
    ours: "/m/a;b",
  },
  {
    name: '`"` and `\\` in JSON',
    why: "MemGator writes them as they are, which is not JSON",
    target: "/timemap/json/http://example.org/backslash",
    see: isJson,
    memGator: false,
    ours: true,
  },
  {
    name: "a memento listed twice",
    why: "same URI and same time is the same memento: it is named and counted once",
    target: "/timemap/link/http://example.org/twice",
    see: countOf,
    memGator: "2",
    ours: "1",
  },
  {
    name: "TimeMaps in pages",
    why: "MemGator reads the first page only, and misses the mementos of the others",
    target: "/timemap/link/http://example.org/paged",
    see: countOf,
    memGator: "1",
    ours: "2",
  },
  {
    name: "TimeGates with several `Link` headers",
    why: "they mean the same as one; MemGator reads the first only",
    target: "/timegate/http://example.org/links-apart",
    see: statusOf,
    memGator: 404,
    ours: 302,
  },
  {
    name: "TimeGates that redirect with 301, 303, 307, 308",
    why: "they redirect all the same; MemGator knows 302 only",
    target: "/timegate/http://example.org/temporary",
    see: statusOf,
    memGator: 404,
    ours: 302,
  },
  {
    name: "TimeGates without links",
    why: "the memento it redirects to is an answer, when its URI tells the time",
    target: "/timegate/http://example.org/bare",
    see: pathOf,
    memGator: undefined,
    ours: "/web/20110101000000/x",
  },
  {
    name: "raw mementos of pywb (`mp_`)",
    why: "a raw copy is promised; MemGator passes on what pywb has rewritten (mp_)",
    target: "/memento/proxy/20100506070809/http://example.org/",
    see: ({ body }) => body.includes('href="/x"'),
    memGator: false,
    ours: true,
  },
  {
    name: "`/api/{DATETIME}/…`",
    why: "/api is another name of /memento",
    target: "/api/2008/http://example.org/only",
    see: statusOf,
    memGator: 400,
    ours: 302,
  },
  {
    name: "errors",
    why: "problem documents (RFC 9457), which programs can read",
    target: "/timemap/link/http://example.org/none",
    see: typeOf,
    memGator: "text/plain; charset=utf-8",
    ours: "application/problem+json",
  },
  {
    name: "`Vary`",
    why: "answers depend on preferences of requests, which caches have to know",
    target: "/timemap/link/http://example.org/only",
    see: ({ headers }) => headers.get("vary"),
    memGator: undefined,
    ours: "prefer, x-memgator-archive-filter, x-mementomap-route",
  },
  {
    name: "methods other than GET, HEAD, OPTIONS",
    why: "nothing is there to be written; MemGator treats all methods as GET",
    target: "/timemap/link/http://example.org/only",
    method: "POST",
    see: statusOf,
    memGator: 200,
    ours: 405,
  },
  {
    name: "`//timemap/…`",
    why: "there is nothing of that name; MemGator tells about itself",
    target: "//timemap/link/http://example.org/only",
    see: statusOf,
    memGator: 200,
    ours: 404,
  },
];
