import type { MapWord } from "./map-trust.ts";
import type { Observation } from "./learner.ts";

/** Observations as other processes get them. Plain data: it can be cloned, which takes little as it is mostly bytes. */
export interface SentObservations {
  /** The ids of archives; observations have their places. */
  readonly archives: readonly string[];
  readonly bytes: Uint8Array;
}

const MAP_WORDS: readonly (MapWord | undefined)[] = [undefined, "absent", "listed", "covered"];

/** What a record has, besides the archive, the mementos, the propensity and the SURT. */
const HAS_LOGIT = 1;
const HAS_MAP_LIKELIHOOD = 2;
const HAS_TIME = 4;
const IS_ASIDE = 8;
const IS_OUTSIDE = 16;
const MAP_SHIFT = 5;

/** A record without its SURT takes no more than this. */
const FIXED_BYTES = 2 + 2 + 8 + 8 * 4 + 4;
const FIRST_BYTES = 16_384;

/**
 * Collects observations for other processes.
 *
 * Each is a record of bytes: to clone as many objects, three times on their way, takes longer than to learn from them.
 */
export class ObservationBatch {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #end = 0;
  readonly #places = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#end === 0;
  }

  add(observation: Observation): void {
    const { surt, mementos, propensity = 1, logit, mapLikelihood, time, map } = observation;
    const most = FIXED_BYTES + 3 * surt.length;
    if (this.#end + most > this.#bytes.length) this.#grow(most);
    const bytes = this.#bytes;
    let flags = MAP_WORDS.indexOf(map) << MAP_SHIFT;
    if (observation.isAside === true) flags |= IS_ASIDE;
    if (observation.isOutside === true) flags |= IS_OUTSIDE;
    if (logit !== undefined) flags |= HAS_LOGIT;
    if (mapLikelihood !== undefined) flags |= HAS_MAP_LIKELIHOOD;
    if (time !== undefined) flags |= HAS_TIME;
    let at = bytes.writeUInt16LE(this.#placeOf(observation.archive), this.#end);
    at = bytes.writeUInt16LE(flags, at);
    at = bytes.writeDoubleLE(mementos, at);
    at = bytes.writeDoubleLE(propensity, at);
    if (logit !== undefined) at = bytes.writeDoubleLE(logit, at);
    if (mapLikelihood !== undefined) at = bytes.writeDoubleLE(mapLikelihood, at);
    if (time !== undefined) at = bytes.writeDoubleLE(time, at);
    const length = bytes.write(surt, at + 4, "utf8");
    bytes.writeUInt32LE(length, at);
    this.#end = at + 4 + length;
  }

  /** What was added since the last time. */
  take(): SentObservations {
    const sent = {
      archives: [...this.#places.keys()],
      bytes: this.#bytes.subarray(0, this.#end),
    };
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#end = 0;
    this.#places.clear();
    return sent;
  }

  #placeOf(archive: string): number {
    const known = this.#places.get(archive);
    if (known !== undefined) return known;
    this.#places.set(archive, this.#places.size);
    return this.#places.size - 1;
  }

  #grow(most: number): void {
    const larger = Buffer.allocUnsafe(2 * (this.#end + most));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** The observations of a batch, in their order. */
export function* readObservations({
  archives,
  bytes,
}: SentObservations): Generator<Observation, void, undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < buffer.length;) {
    const archive = archives[buffer.readUInt16LE(at)];
    const flags = buffer.readUInt16LE(at + 2);
    const mementos = buffer.readDoubleLE(at + 4);
    const propensity = buffer.readDoubleLE(at + 12);
    at += 20;
    const next = (flag: number): number | undefined => {
      if ((flags & flag) === 0) return undefined;
      at += 8;
      return buffer.readDoubleLE(at - 8);
    };
    const logit = next(HAS_LOGIT);
    const mapLikelihood = next(HAS_MAP_LIKELIHOOD);
    const time = next(HAS_TIME);
    const length = buffer.readUInt32LE(at);
    const surt = buffer.toString("utf8", at + 4, at + 4 + length);
    at += 4 + length;
    yield {
      archive,
      surt,
      mementos,
      propensity,
      logit,
      isAside: (flags & IS_ASIDE) !== 0,
      isOutside: (flags & IS_OUTSIDE) !== 0,
      mapLikelihood,
      map: MAP_WORDS[flags >> MAP_SHIFT],
      time,
    };
  }
}
