import { formatRecord } from "../../ukvs/record.ts";
import { SizedHead } from "../../ukvs/header.ts";
import { mapHeaders } from "../../map/generate/map-rows.ts";
import { KeyPath, LEVEL } from "./key-path.ts";
import type { Learner } from "./learner.ts";

/** What a map of what was learnt says of itself. */
export interface LearntMapDescription {
  /** The URI of the archive. */
  readonly id: string;
  /** Its name, for people. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The program that made the map, with its version. */
  readonly generator?: string | undefined;
}

/** A prefix goes out only if as many different originals below it were looked up. */
const SEVERAL = 5;
/** Without a hit among as many originals, fewer than one in a hundred is held, with a confidence of 95 %. */
const VOID_LOOKUPS = 300;
/** Wider prefixes are never void; without hits, those that were looked up most stand in a header. */
const MOST_MISSES = 1000;
/** What is deeper may be the name of one person's folder. */
const MOST_FOLDERS = 2;

interface Known {
  readonly lookups: number;
  readonly hits: number;
}

/**
 * What was learnt of an archive, as a map: a sample, with a wildcard for each prefix that something was
 * found below, and a void for hosts and folders of which enough was looked up in vain. `lookups` of a row
 * says how many different originals its counts rest on. `misses` of `!meta` are wider prefixes that
 * nothing was found below, which is too little to call them void.
 *
 * Undefined as long as nothing was found. It names no single original.
 */
export function learntMap(
  learner: Learner,
  archive: string,
  description: LearntMapDescription,
): Uint8Array | undefined {
  const known = knownPrefixes(learner, learner.numberOf(archive));
  const all = known.get("");
  if (all === undefined || all.hits === 0) return undefined;
  const rows: string[] = [];
  const misses: [key: string, lookups: number][] = [];
  const path = new KeyPath();
  for (const [prefix, { lookups, hits }] of known) {
    const key = `${prefix}*`;
    if (hits > 0) rows.push(rowOf(key, `${hits}+/${hits}~`, lookups));
    else if (!prefix.endsWith("/")) misses.push([key, lookups]);
    else if (isVoid({ lookups, hits }) && !isBelowVoid(prefix, known, path)) {
      rows.push(rowOf(key, "0", lookups));
    }
  }
  misses.sort((a, b) => b[1] - a[1]);
  // Keys are ASCII, in which this is the order of bytes.
  const body = encoder.encode(`${rows.sort(compareKeys).join("\n")}\n`);
  const { id, name, now, generator } = description;
  const updatedAt = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const headers = mapHeaders(
    { id, name, updatedAt, generator, isSample: true, canonicalization: "surt" },
    {},
  ).with({
    name: "meta",
    value: { misses: Object.fromEntries(misses.slice(0, MOST_MISSES)) },
  });
  const head = new SizedHead(headers).bytes({ bytes: body.length, records: rows.length });
  const map = new Uint8Array(head.length + body.length);
  map.set(head);
  map.set(body, head.length);
  return map;
}

/** What is known of prefixes that several lookups share, by their names; the empty one is everything. */
function knownPrefixes(learner: Learner, archive: number): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  if (archive < 0) return known;
  const path = new KeyPath();
  const { evidence } = learner;
  const take = (name: Uint8Array): void => {
    path.take(name);
    const place = path.length - 2;
    const slot = evidence.table.find(path.highs[place], path.lows[place]);
    if (slot < 0 || path.levels[place] >= LEVEL.folder + MOST_FOLDERS) return;
    const kept = evidence.keptOf(slot);
    const hinted = learner.hintedAt(archive, place, path);
    const lookups = Math.floor(kept * (evidence.asked(slot, archive) - hinted.asked));
    const found = kept * (evidence.hits(slot, archive) - hinted.hits);
    // Hits that may be those of a hint: whether anything was found is not known.
    if (hinted.hits > 0 && found < 0.5) return;
    // A hit of long ago still says that the prefix is not void.
    const hits = found === 0 ? 0 : Math.min(lookups, Math.max(1, Math.round(found)));
    if (lookups >= SEVERAL) known.set(decoder.decode(name), { lookups, hits });
  };
  take(new Uint8Array(0));
  for (const name of learner.names) take(name);
  return known;
}

function isVoid(known: Known | undefined): boolean {
  return known?.hits === 0 && known.lookups >= VOID_LOOKUPS;
}

/** Whether the host or a folder above is void already. */
function isBelowVoid(prefix: string, known: ReadonlyMap<string, Known>, path: KeyPath): boolean {
  path.take(encoder.encode(prefix));
  for (let place = 0; place < path.length - 2; place++) {
    if (path.levels[place] < LEVEL.host) continue;
    if (isVoid(known.get(`${prefix.slice(0, path.ends[place])}/`))) return true;
  }
  return false;
}

function rowOf(key: string, frequency: string, lookups: number): string {
  const record = { keys: [key], values: [frequency], json: { lookups } };
  return formatRecord(record, { keys: ["surt"], values: ["frequency"] });
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : 1;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");
