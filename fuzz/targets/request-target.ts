import { isMementoMapError } from "../../src/errors.ts";
import { originalUri } from "../../src/http/original-uri.ts";
import { lookupQuery, pageNumber, splitTarget } from "../../src/http/target.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "an original that is asked for is absolute",
  seeds: () => [
    "/timemap/link/http://a.com/b?c=d",
    "/timemap/json/3/https://a.com/%20",
    "/timegate/a.com",
    "/memento/20160101000000/http://a.com/",
    "/memento/proxy/2016/http://a.com//b/../c",
    "/api/link/2016/http://a.com/",
    "http://proxy.example/lookup?at=2016&map=x&url=http://a.com/?url=y",
    "/about.json?x",
    "/?url=a&page=2",
  ],
  words: [
    "/timemap/",
    "/timegate/",
    "/memento/",
    "link/",
    "http://",
    "?url=",
    "&at=",
    "%2F",
    "//",
    "page=",
  ],
  run(input) {
    const text = latin1(input);
    const { path, query } = splitTarget(text);
    must(path !== "", "a path", path);
    const { url } = lookupQuery(query);
    must(url === undefined || query.endsWith(url) || query.includes("%"), "the URI as sent", url);
    pageNumber(query);
    let original: string;
    try {
      original = originalUri(text);
    } catch (error) {
      if (isMementoMapError(error)) return;
      throw error;
    }
    must(/^[a-z][a-z0-9+.-]*:/i.test(original), "an absolute URI", original);
  },
};
