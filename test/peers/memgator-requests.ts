/** A request that both aggregators get. */
export interface Request {
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Answers with the same status, headers and mementos. */
export const SAME: readonly Request[] = [
  ...["link", "json", "cdxj"].flatMap((format) => [
    { target: `/timemap/${format}/http://example.org/` },
    { target: `/timemap/${format}/example.org/` },
    { target: `/timemap/${format}/http%3A%2F%2Fexample.org%2F` },
    { target: `/timemap/${format}/http://example.org/only` },
    { target: `/timemap/${format}/http://example.org/even` },
    { target: `/timemap/${format}/http://example.org/page?b=2&a=1` },
    { target: `/timemap/${format}/http://example.org/none` },
    ...["2008", "200804", "20100102", "20080409203051", "1990", "2030"].flatMap((datetime) => [
      { target: `/memento/${format}/${datetime}/http://example.org/` },
      { target: `/api/${format}/${datetime}/http://example.org/` },
    ]),
    { target: `/memento/${format}/2011/http://example.org/only` },
    { target: `/memento/${format}/20100102/http://example.org/even` },
    { target: `/memento/${format}/2011/http://example.org/none` },
  ]),
  ...["1990", "2005", "2008", "201001", "20180704000000", "2030"].map((datetime) => ({
    target: `/memento/${datetime}/http://example.org/`,
  })),
  { target: "/memento/20100102/http://example.org/even" },
  { target: "/memento/2010/http://example.org/none" },
  ...[
    "Mon, 01 Jan 1990 00:00:00 GMT",
    "Wed, 09 Apr 2008 20:30:51 GMT",
    "Thu, 01 Jan 2009 00:00:00 GMT",
    "Tue, 01 Jan 2030 00:00:00 GMT",
  ].map((datetime) => ({
    target: "/timegate/http://example.org/",
    headers: { "accept-datetime": datetime },
  })),
  { target: "/timegate/http://example.org/" },
  { target: "/timegate/example.org/only" },
  { target: "/timegate/http://example.org/none" },
  { target: "/memento/proxy/2008/http://example.org/" },
  { target: "/api/proxy/2011/http://example.org/only" },
  { target: "/memento/proxy/2008/http://example.org/none" },
];

/** Requests that both refuse with the same status. */
export const REFUSED: readonly Request[] = [
  { target: "/timemap/xml/http://example.org/" },
  { target: "/timemap/link/" },
  { target: "/timemap/link" },
  { target: "/timegate/" },
  { target: "/timegate/http://example.org/", headers: { "accept-datetime": "tomorrow" } },
  { target: "/memento/http://example.org/" },
  { target: "/memento/20/http://example.org/" },
  { target: "/memento/20151399/http://example.org/" },
  { target: "/memento/xml/2015/http://example.org/" },
  { target: "/memento/link/http://example.org/" },
  { target: "/memento/link/2015/" },
  { target: "/api/json/http://example.org/" },
  { target: "/no-such-thing" },
];
