import type { TimeMapDocument, TimeMapFormat } from "./timemap-document.ts";
import { cdxjDescription, cdxjTimeMap } from "./write-cdxj.ts";
import { jsonDescription, jsonTimeMap } from "./write-json.ts";
import { linkDescription, linkTimeMap } from "./write-link.ts";

/**
 * Writes a TimeMap, byte for byte as MemGator lays it out, in blocks of about 64 KiB.
 *
 * Where MemGator's would not be valid it differs: JSON is escaped, and `<`, `>` and control
 * characters in the targets of links are percent-encoded. Where the TimeMap is cut in pages, a page
 * says which time it covers and names the others: in link-format all of them, in JSON and CDXJ its
 * neighbours in `pages`. An index names all of them, in `timemap_index`.
 *
 * A block is the taker's. Holds one block.
 */
export function writeTimeMap(
  document: TimeMapDocument,
  format: TimeMapFormat,
): Generator<Uint8Array, void, undefined> {
  switch (format) {
    case "link":
      return linkTimeMap(document);
    case "json":
      return jsonTimeMap(document);
    case "cdxj":
      return cdxjTimeMap(document);
  }
}

/**
 * Writes which memento is the closest to a moment, those next to it, and the first and last of all.
 *
 * @param closest its place among the mementos, of which there is at least one.
 */
export function describeMemento(
  document: TimeMapDocument,
  format: TimeMapFormat,
  closest: number,
): Uint8Array {
  switch (format) {
    case "link":
      return linkDescription(document, closest);
    case "json":
      return jsonDescription(document, closest);
    case "cdxj":
      return cdxjDescription(document, closest);
  }
}
