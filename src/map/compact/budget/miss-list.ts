import { copyRange } from "../../../bytes/bytes.ts";
import { sortKeys } from "../../generate/sort-keys.ts";
import { MissCollector } from "./miss-collector.ts";

/**
 * Lookups that an archive could not answer, as sorted keys.
 *
 * Holds all of them: their bytes and 9 bytes each. Every key counts once, however often it was
 * asked: what is asked again soon tells little of what other pages will be asked for.
 */
export class MissList {
  readonly count: number;
  /** The keys, one after the other, in byte order. */
  readonly bytes: Uint8Array;
  /** Key `i` is `bytes[starts[i], starts[i + 1])`. */
  readonly starts: Uint32Array;
  /** Whether the key was first seen in the later half of the log. */
  readonly isLate: Uint8Array;
  /** Lines of the log that were left out, because they are neither URIs nor SURTs. */
  readonly oddLines: number;

  /** @param log the keys in the order of the log; a collector must not be added to any more. */
  constructor(log: MissCollector | Iterable<string>, oddLines: number = 0) {
    const { count, bytes, starts } = log instanceof MissCollector ? log : collected(log);
    const ids = Uint32Array.from({ length: count }, (_, id) => id);
    sortKeys(ids, bytes, starts);
    this.count = count;
    this.oddLines = oddLines;
    this.bytes = new Uint8Array(starts[count]);
    this.starts = new Uint32Array(count + 1);
    this.isLate = new Uint8Array(count);
    let at = 0;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      at = copyRange(bytes, starts[id], starts[id + 1], this.bytes, at);
      this.starts[i + 1] = at;
      this.isLate[i] = id * 2 >= count ? 1 : 0;
    }
  }
}

function collected(keys: Iterable<string>): MissCollector {
  const collector = new MissCollector();
  const encoder = new TextEncoder();
  for (const key of keys) {
    const bytes = encoder.encode(key);
    collector.add(bytes, 0, bytes.length);
  }
  return collector;
}
