import { pageOfReferer, looksLikePageRequisite } from "../../src/aggregate/route/referer.ts";
import { readPreferences } from "../../src/aggregate/service/request.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

export const target: TargetDefinition = {
  holds: "what is preferred can be used: ids are not empty, counts and likelihoods in range",
  seeds: () => [
    'archives="ia, pt", top-k=3, min-likelihood=0.5',
    'from=2010; x=y, until="20120131", routing=off, route-reasons',
    'except-archives="a b",respond-async, wait=100\nia,!pt\nno-cache\nhttp://x.org/web/20160101000000/http://a.com/style.css',
    'archives="\\"a\\" b"\n\nmax-age=0, only-if-cached\nhttps://a.com/?x=/http://b.com/',
  ],
  words: [
    "archives=",
    "top-k=",
    "min-likelihood=",
    "from=",
    "until=",
    "routing=",
    '"',
    "\\",
    ", ",
    ";",
    "\n",
    "/http://",
  ],
  run(input) {
    const [prefer, filter, cacheControl, referer] = headerText(input).split("\n");
    const { route, applied } = readPreferences({
      prefer,
      ...(filter === undefined ? {} : { "x-memgator-archive-filter": filter }),
      ...(cacheControl === undefined ? {} : { "cache-control": cacheControl }),
      ...(referer === undefined ? {} : { referer }),
    });
    const { only = [], except = [], topK = 1, minLikelihood = 0, from, until } = route;
    must(
      [...only, ...except].every((id) => id !== ""),
      "ids",
      route,
    );
    must(Number.isSafeInteger(topK) && topK >= 1, "top-k", topK);
    must(minLikelihood >= 0 && minLikelihood <= 1, "min-likelihood", minLikelihood);
    for (const time of [from, until]) {
      must(time === undefined || Number.isSafeInteger(time), "a time", time);
    }
    must(applied === undefined || !/[\r\n]/.test(applied), "one line", applied);
    if (referer === undefined) return;
    const page = pageOfReferer(referer);
    if (page !== undefined) looksLikePageRequisite(page);
  },
};

/** The characters that Node lets into a header, and line ends between headers. */
function headerText(bytes: Uint8Array): string {
  return latin1(bytes).replaceAll(/[^\n\t\u0020-\u007e\u0080-\u00ff]/g, "");
}
