import * as fc from "fast-check";

/** URIs near what the seeds of packed maps hold. */
export const uriNearPacked: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http://", "https://www."),
    fc.constantFrom("a.com", "b.com", "c.org", "d.com", "x.d.com", "e.com", "f.x.com"),
    fc.array(fc.constantFrom("/b", "/c", "/d", "/x", "/f", "/g", "/h"), { maxLength: 40 }),
    fc.constantFrom("", "/", "?q=1", "?q=2", "?", "#x"),
  )
  .map(([scheme, host, path, rest]) => [scheme, host, ...path, rest].join(""));
