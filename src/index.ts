/**
 * Maps of the holdings of web archives: open, generate, compact, merge and compare them, and route
 * requests by them.
 *
 * This entry works on bytes, streams and addresses, and runs in browsers, workers, Deno, Bun and Node.
 * `mementomap/node` adds files and more functions.
 *
 * @module
 */
import {
  compactOn,
  diffOn,
  discoverOn,
  generateOn,
  mergeOn,
  readTimeMapOn,
  validateOn,
} from "./library/maps.ts";
import { openMapOn } from "./library/open-map.ts";
import { createRouterOn } from "./library/router.ts";
import { bind, type Bound } from "./library/source.ts";
import { WEB } from "./library/web-platform.ts";

/**
 * Opens a map from any source, to look up whether an archive may hold a URI.
 *
 * A map at an address is searched by `Range` requests, a few kilobytes per lookup; if the server does not
 * support them, the map is downloaded. `inMemory` loads any map into memory, which is fastest for many
 * lookups. Concurrent lookups share reads.
 *
 * @param source an address, a `URL`, a `Blob` or `File`, bytes, a stream; with `mementomap/node` also
 *   the path of a file. gzip and zstd are decompressed.
 * @throws MM_HTTP, MM_IO; MM_BAD_INPUT and others for errors in the map; MM_CUT for a truncated map;
 *   MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { openMap } from "mementomap";
 *
 * const text = "com,example)/ 12\ncom,example)/news/* 3400\n";
 * await using map = await openMap(new TextEncoder().encode(text));
 * console.log(await map.has("http://example.com/news/today"));
 * const { key, frequency } = await map.lookup("https://www.example.com/news/today");
 * console.log(key, frequency);
 * for await (const { present } of map.lookupMany(["http://example.com/", "http://example.org/"])) {
 *   console.log(present);
 * }
 * for await (const { key, frequency } of map) console.log(key, frequency);
 * ```
 * ```
 * true
 * com,example)/news/* 3400
 * true
 * false
 * com,example)/ 12
 * com,example)/news/* 3400
 * ```
 */
export const openMap: Bound<typeof openMapOn> = /* @__PURE__ */ bind(WEB, openMapOn);

/**
 * Generates a map from indexes: CDX, CDXJ, lists of URIs, WARC, ARC, logs and TimeMaps, recognized by
 * their content. Holds all keys in memory; `generateMapFile` of `mementomap/node` does not.
 *
 * @throws MM_BAD_INPUT; MM_BAD_LINE and MM_LIMIT with source and line; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { generate } from "mementomap";
 *
 * const index = new Blob(["http://example.com/\nhttp://example.com/a\nhttp://example.com/a\n"]);
 * const map = generate([index], { description: { name: "Example Archive" } });
 * console.log((await map.text()).split("\n").slice(-3, -1));
 * console.log((await map.summary).counts.captures);
 * ```
 * ```
 * [ 'com,example)/ 1', 'com,example)/a 2' ]
 * 3
 * ```
 */
export const generate: Bound<typeof generateOn> = /* @__PURE__ */ bind(WEB, generateOn);

/**
 * Compacts a map by rolling up subtrees with many children. Every URI present in the map is present in
 * the result. Works as a stream; the map must be sorted.
 *
 * `compactMapFile` of `mementomap/node` is faster, and finds the best map of a given size.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_KEY, MM_BAD_FREQUENCY, with source and line; MM_CUT;
 *   MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { compact } from "mementomap";
 *
 * const map = new Blob(["com,example)/a/1 1\ncom,example)/a/2 1\ncom,example)/b 1\n"]);
 * const small = compact(map, { pathWeight: 0 });
 * console.log(await small.text());
 * ```
 * ```
 * com,example)/* 3
 *
 * ```
 */
export const compact: Bound<typeof compactOn> = /* @__PURE__ */ bind(WEB, compactOn);

/**
 * Merges sorted maps, or the pages of one. A URI is present in the result if and only if it is present in
 * one of them. Plain files are read in place; other sources are loaded into memory.
 *
 * @throws MM_BAD_INPUT if columns differ or a page is missing; MM_NOT_SORTED; MM_CUT; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { merge } from "mementomap";
 *
 * const a = new Blob(["com,example)/ 1\n"]);
 * const b = new Blob(["com,example)/ 2\norg,example)/ 5\n"]);
 * console.log(await merge([a, b]).text());
 * ```
 * ```
 * com,example)/ 3
 * org,example)/ 5
 *
 * ```
 */
export const merge: Bound<typeof mergeOn> = /* @__PURE__ */ bind(WEB, mergeOn);

/**
 * Compares two sorted maps: their headers at once, their records as they are read.
 *
 * @throws MM_BAD_INPUT if the key columns differ; MM_NOT_SORTED; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { diff } from "mementomap";
 *
 * const before = new Blob(["com,example)/ 1\n"]);
 * const after = new Blob(["com,example)/ 2\norg,example)/ 5\n"]);
 * const { records } = await diff(before, after);
 * for await (const { kind, key } of records) console.log(kind, key);
 * ```
 * ```
 * changed com,example)/
 * added org,example)/
 * ```
 */
export const diff: Bound<typeof diffOn> = /* @__PURE__ */ bind(WEB, diffOn);

/**
 * Finds all faults of a map. Faults are yielded, never thrown.
 *
 * @throws MM_INTERRUPTED, and errors of reading the source
 *
 * @example
 * ```ts
 * import { validate } from "mementomap";
 *
 * const map = new Blob(["com,b)/ 1\ncom,a)/ 1\n"]);
 * for await (const { line, code } of validate(map)) console.log(line, code);
 * ```
 * ```
 * 1 missing-fields
 * 2 not-sorted
 * ```
 */
export const validate: Bound<typeof validateOn> = /* @__PURE__ */ bind(WEB, validateOn);

/**
 * Creates a router, which decides by the maps of archives which of them may have a URI.
 *
 * @throws MM_USAGE for a map of an archive that is not in the list; errors of a map; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { createRouter, parseArchiveList } from "mementomap";
 *
 * const archives = parseArchiveList(
 *   JSON.stringify([
 *     { id: "a", timemap: "https://a.example/timemap/" },
 *     { id: "b", timemap: "https://b.example/timemap/" },
 *     { id: "c", timemap: "https://c.example/timemap/" },
 *   ]),
 * );
 * const router = await createRouter(archives, {
 *   maps: { a: new Blob(["org,example,* 1200\n"]), b: new Blob(["com,example)/* 12\n"]) },
 *   sampleShare: 0,
 * });
 * for (const { archive, isAsked, reason } of router.route({ uri: "http://example.com/news" })) {
 *   console.log(archive.id, isAsked, reason);
 * }
 * ```
 * ```
 * b true in-map
 * c true no-map
 * a false not-in-map
 * ```
 */
export const createRouter: Bound<typeof createRouterOn> = /* @__PURE__ */ bind(WEB, createRouterOn);

/**
 * Reads a TimeMap in link format, JSON or CDXJ, recognized by its content. Unreadable entries are counted
 * in `faults`, not thrown.
 *
 * @throws MM_HTTP, MM_IO; MM_LIMIT for too many mementos; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { readTimeMap } from "mementomap";
 *
 * const timeMap = await readTimeMap(
 *   new Blob([
 *     '<http://a.org/>; rel="original",\n',
 *     '<http://archive.example/2015/http://a.org/>; rel="memento"; ',
 *     'datetime="Fri, 13 Feb 2015 09:45:21 GMT"',
 *   ]),
 * );
 * console.log(timeMap.original, timeMap.mementos.count);
 * ```
 * ```
 * http://a.org/ 1
 * ```
 */
export const readTimeMap: Bound<typeof readTimeMapOn> = /* @__PURE__ */ bind(WEB, readTimeMapOn);

/**
 * Discovers the map that an archive publishes: at the well-known URI, by a `Link` header of its address,
 * or by a `<link>` element of its page. `openMap(url)` then opens it.
 *
 * @throws MM_NOT_FOUND with all attempts; MM_BAD_URI; MM_REFUSED and MM_HTTP if the archive's own address
 *   cannot be fetched; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { discoverMap } from "mementomap";
 *
 * // Where nothing is published, the error lists what was tried.
 * await discoverMap("http://127.0.0.1:9/").catch((error) => console.log(error.code));
 * ```
 * ```
 * MM_HTTP
 * ```
 */
export const discoverMap: Bound<typeof discoverOn> = /* @__PURE__ */ bind(WEB, discoverOn);

export { isMementoMapError, MementoMapError } from "./errors.ts";
export { surt } from "./surt/uri-to-surt.ts";
export { uriKey } from "./surt/key.ts";
export { lookupKeys } from "./surt/covering-keys.ts";
export { parseArchiveList } from "./aggregate/route/archive.ts";
export { mergeTimeMaps } from "./aggregate/merge-timemaps.ts";
export { writeTimeMap } from "./memento/write-timemap.ts";
export { parseFrequency } from "./ukvs/frequency.ts";
export { UkvsHeaders } from "./ukvs/header.ts";
export { readUkvs } from "./ukvs/reader.ts";
export { UkvsWriter } from "./ukvs/writer.ts";

// Types used in the signatures above.
export type { AggregateRequest, Aggregation } from "./aggregate/aggregator.ts";
export type { MergeSource, MergedTimeMap } from "./aggregate/merge-timemaps.ts";
export type { Archive } from "./aggregate/route/archive.ts";
export type { Decision, RouteReason, RouteRequest } from "./aggregate/route/decision.ts";
export type { ErrorCode, ErrorDetails, Position } from "./errors.ts";
export type { CdxQuery } from "./harvest/cdx-request.ts";
export type { HttpClient } from "./http/http-client.ts";
export type { InputFormat } from "./input/formats.ts";
export type { CaptureFilter } from "./input/filter.ts";
export type { CompactSummary } from "./compact/compact-map.ts";
export type { MapComparison } from "./maps/compare/comparison.ts";
export type { HeaderDifference, MapDifference, RecordDifference } from "./maps/diff-maps.ts";
export type { Fault, FaultCode } from "./maps/map-faults.ts";
export type { GenerateMapOptions } from "./generate/generate-map.ts";
export type { IndexCounts } from "./generate/index-counts.ts";
export type { MapDescription } from "./generate/map-rows.ts";
export type { Answer, LookupOptions } from "./lookup/map-lookup.ts";
export type { MergeSummary } from "./maps/merge-maps.ts";
export type { ValidateOptions } from "./maps/validate-map.ts";
export type { Memento } from "./memento/memento-list.ts";
export type { TimeMapDocument, TimeMapFormat } from "./memento/timemap-document.ts";
export type { TimeMapReading } from "./memento/timemap-reading.ts";
export type { Attempt, DiscoverOptions, Discovery } from "./publish/fetch/discover.ts";
export type { Analysis } from "./study/analyze/analysis.ts";
export type { KeyOptions } from "./surt/key.ts";
export type { LookupKey } from "./surt/covering-keys.ts";
export type { Bound, Count, Frequency } from "./ukvs/frequency.ts";
export type { Fields, Header, MapSize } from "./ukvs/header.ts";
export type { ReadUkvsOptions, RecordBatch } from "./ukvs/reader.ts";
export type { DatetimeRange, UkvsRecord } from "./ukvs/record.ts";
export type { ByteSink, WriteUkvsOptions } from "./ukvs/writer.ts";
export type { MapStream } from "./library/map-stream.ts";
export type { CompactOptions, GenerateResult, ReadTimeMapOptions } from "./library/maps.ts";
export type { SignalOption } from "./interruption.ts";
export type { MapRow, MementoMap, OpenMapOptions } from "./library/open-map.ts";
export type { MapChild, MapSlice, SliceOptions } from "./maps/explore/map-slice.ts";
export type { PackedHoldings } from "./maps/explore/packed-holdings.ts";
export type { ArchiveRouter, MapsById, RouterOptions } from "./library/router.ts";
export type { Bytes, Source } from "./library/source.ts";
export type { Aggregator } from "./aggregate/aggregator.ts";
