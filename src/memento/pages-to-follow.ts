import type { TimeMapLink, TimeMapReading } from "./timemap-reading.ts";

/**
 * The other TimeMaps that have to be read for all mementos: the next page, the pages of an index, or
 * those that say which time they cover (RFC 7089, 5.1.1).
 *
 * Not those that are the same TimeMap, or the same in another format. Their addresses are as
 * written, and a page names its neighbours again: follow each once.
 */
export function pagesToFollow(reading: TimeMapReading): TimeMapLink[] {
  const self = reading.pages.find(({ rel }) => rel === "self");
  const format = self?.type ?? "application/link-format";
  return reading.pages.filter(({ rel, uri, type, from, until }) => {
    if (rel === "self" || rel === "prev" || uri === self?.uri) return false;
    if (type !== undefined && type !== format) return false;
    // One that tells no time may be this very TimeMap, unless that names itself or has nothing.
    const isOther = from !== undefined || until !== undefined || self !== undefined;
    return rel === "next" || isOther || reading.mementos.count === 0;
  });
}
